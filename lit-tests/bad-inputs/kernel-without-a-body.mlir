// expect: 5:3: 'gpu.func' op expected body with at least one block
// RUN: bad-input %s

gpu.module @kernels {
  "gpu.func"() <{function_type = () -> ()}> ({
  }) {gpu.kernel, sym_name = "k"} : () -> ()
}
