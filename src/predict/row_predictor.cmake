list(APPEND predict_sources link_list.c row_cache.c row_calibrated.c row_predictor.c
     row_published.c row_scale.c row_view.c shipped.c)

# The shipped weights and calibrator are part of the library if they are there; shipped.c says how.
set(shipped_ultra ${PROJECT_SOURCE_DIR}/models/ultra-anycq.safetensors)
set(shipped_calibrator ${PROJECT_SOURCE_DIR}/models/ultra-anycq-calibrator.safetensors)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/models)
if(EXISTS ${shipped_ultra} AND EXISTS ${shipped_calibrator})
  set_source_files_properties(shipped.c PROPERTIES
    COMPILE_DEFINITIONS
    "ACQ_SHIPPED_ULTRA=\"${shipped_ultra}\";ACQ_SHIPPED_CALIBRATOR=\"${shipped_calibrator}\""
    OBJECT_DEPENDS "${shipped_ultra};${shipped_calibrator}")
endif()
