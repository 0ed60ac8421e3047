# Link prediction judged: ranks against their definition, and the commands around it.
acq_test(eval_links SOURCES unit/eval_links.c unit/completion_case.c USES eval)

foreach(transcript links train_links shards fit)
  add_test(NAME cli_${transcript}
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/transcript.sh $<TARGET_FILE:anycq>
                   $<TARGET_FILE:cli_scores> ${PROJECT_SOURCE_DIR}
                   ${CMAKE_CURRENT_SOURCE_DIR}/cli/${transcript}.txt)
endforeach()
foreach(script train_links fit)
  add_test(NAME cli_${script}_resume
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/${script}_resume.sh $<TARGET_FILE:anycq>
                   ${PROJECT_SOURCE_DIR})
endforeach()
