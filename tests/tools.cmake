# What tools/ makes of other people's data.
add_test(NAME graph_tools
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/graph_tools.sh ${PROJECT_SOURCE_DIR})
add_test(NAME convert_ultra
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/convert_ultra.sh ${PROJECT_SOURCE_DIR})
add_test(NAME extract_calibrator
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/extract_calibrator.sh ${PROJECT_SOURCE_DIR}
                 $<TARGET_FILE:anycq>)
