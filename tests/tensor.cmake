# The tile of AVX-512 for any processor, so that its logic runs everywhere.
add_library(tensor_tests STATIC support/kernel_list.c support/kernels_wide.c support/matrix.c
                                support/bf16_emulated.c)
target_link_libraries(tensor_tests PUBLIC test_support acq_tensor)
set_source_files_properties(support/kernels_wide.c PROPERTIES COMPILE_OPTIONS
                            "-O1;-ffp-contract=fast;-fno-sanitize=undefined;-Wno-psabi")
foreach(name gemm kernels bf16 messages)
  acq_test(tensor_${name} SOURCES unit/tensor_${name}.c USES tensor)
  target_link_libraries(test_tensor_${name} PRIVATE tensor_tests)
endforeach()

acq_test(tensor_optimizer SOURCES unit/tensor_optimizer.c USES tensor)
acq_test(tensor_safetensors SOURCES unit/tensor_safetensors.c USES tensor)
acq_test(tensor_cpu SOURCES unit/tensor_cpu.c USES tensor)
