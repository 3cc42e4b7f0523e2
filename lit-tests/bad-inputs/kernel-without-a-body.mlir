// expect: ?
// RUN: bad-input %s

gpu.module @kernels {
  "gpu.func"() <{function_type = () -> ()}> ({
  }) {gpu.kernel, sym_name = "k"} : () -> ()
}
