# Writes OUTPUT, a C file that names the commit of the sources in SOURCE; "unknown" outside of git.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  set(commit unknown)
endif()
file(WRITE ${OUTPUT} "#include \"cli/commands.h\"\n\nconst char acq_commit[] = \"${commit}\";\n")
