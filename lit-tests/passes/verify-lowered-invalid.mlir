// Tests that what the back end would abort on, or call a library for, is refused before it sees it.

// RUN: pipeline-opt %s --split-input-file --verify-diagnostics --async-pipeline-verify-lowered=target=sm_80

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'exp' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.exp(%x) : (f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'exp10' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.exp10(%x) : (f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'log' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.log(%x) : (f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'log2' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.log2(%x) : (f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'log10' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.log10(%x) : (f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'sin' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.sin(%x) : (f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'cos' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.cos(%x) : (f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'tan' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.tan(%x) : (f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'asin' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.asin(%x) : (f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'acos' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.acos(%x) : (f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'atan' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.atan(%x) : (f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'sinh' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.sinh(%x) : (f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'cosh' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.cosh(%x) : (f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'tanh' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.tanh(%x) : (f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f64) {
  // expected-error @below {{'exp2' on f64 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.exp2(%x) : (f64) -> f64
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'pow' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.pow(%x, %x) : (f32, f32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: vector<4xf32>) {
  // expected-error @below {{'atan2' on vector<4xf32> has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.atan2(%x, %x) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'powi' on f32 has no PTX instruction, and GPU code has no library to call}}
  %r = llvm.intr.powi(%x, %i) : (f32, i32) -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'math.erf' op cannot be lowered to PTX}}
  %r = math.erf %x : f32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'scf.while' op cannot be lowered to PTX}}
  scf.while : () -> () {
    %t = arith.constant true
    scf.condition(%t)
  } do {
    scf.yield
  }
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{a value of type f8E4M3FN cannot be lowered to PTX}}
  %r = builtin.unrealized_conversion_cast %i : i32 to f8E4M3FN
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{a value of type f128 cannot be lowered to PTX}}
  %r = llvm.fpext %x : f32 to f128
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{a value of type f80 cannot be lowered to PTX}}
  %r = llvm.fpext %x : f32 to f80
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{a value of type vector<[4]xf32> cannot be lowered to PTX}}
  %r = llvm.load %p : !llvm.ptr -> vector<[4]xf32>
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{expected vectors of at most 1024 elements, which one thread holds; got vector<1025xf32>}}
  %r = llvm.load %p : !llvm.ptr -> vector<1025xf32>
  llvm.return
}

// -----

llvm.func @k(%p: !llvm.ptr, %y: i128) {
  // expected-error @below {{there is no atomic operation on 128 bits}}
  %r = llvm.cmpxchg %p, %y, %y seq_cst seq_cst : !llvm.ptr, i128
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{expected a scope among block, cluster, device and singlethread, got 'agent'}}
  llvm.fence syncscope("agent") seq_cst
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'llvm.call_intrinsic' op cannot be turned into PTX}}
  llvm.call_intrinsic "llvm.nvvm.wgmma.fence.sync.aligned"() : () -> ()
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'llvm.va_arg' op cannot be turned into PTX}}
  %r = llvm.va_arg %p : (!llvm.ptr) -> i32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{a call through a pointer is not supported in a kernel}}
  llvm.call %p() : !llvm.ptr, () -> ()
  llvm.return
}

// -----

llvm.func @malloc(i64) -> !llvm.ptr
llvm.func @k(%n: i64) {
  // expected-error @below {{needs the function 'malloc', which is not available on the GPU}}
  %r = llvm.call @malloc(%n) : (i64) -> !llvm.ptr
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'nvvm.wgmma.fence.aligned' op: it is not known whether sm_80 has it; use an op of async_pipeline, or write the PTX with llvm.inline_asm}}
  nvvm.wgmma.fence.aligned
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'nvvm.elect.sync' op is illegal on sm_80: `elect.sync` needs sm_90 or newer; sm_80 does not have it}}
  %r = nvvm.elect.sync -> i1
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'nvvm.cluster.arrive' op is illegal on sm_80: `barrier.cluster.arrive` needs sm_90 or newer; sm_80 does not have it}}
  nvvm.cluster.arrive
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'nvvm.cluster.wait' op is illegal on sm_80: `barrier.cluster.wait` needs sm_90 or newer; sm_80 does not have it}}
  nvvm.cluster.wait
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{'nvvm.fence.mbarrier.init' op is illegal on sm_80: `fence.mbarrier_init` needs sm_90 or newer; sm_80 does not have it}}
  nvvm.fence.mbarrier.init
  llvm.return
}

// -----

// expected-error @below {{a thread-local global is not available on the GPU}}
llvm.mlir.global internal thread_local @x(0 : i32) : i32

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{expected constraints among bcdfhilnqr0123456789, one letter or digit each; got 'x'}}
  llvm.inline_asm "nop $0;", "x" %i : (i32) -> ()
  llvm.return
}

// -----

llvm.func @k(%x: f32, %p: !llvm.ptr, %i: i32) {
  // expected-error @below {{expected `$` in front of an operand's number below 1, got '$1;'}}
  llvm.inline_asm "nop $1;", "r,~{memory}" %i : (i32) -> ()
  llvm.return
}

// -----

llvm.func @k() {
  %n = llvm.mlir.constant(131072 : i64) : i64
  // expected-error @below {{expected at most 524288 bytes of local memory per thread, got 1048576}}
  %r = llvm.alloca %n x f64 : (i64) -> !llvm.ptr
  llvm.return
}
