// expect: ?
// RUN: bad-input %s

llvm.func @k() {
  llvm.return
}
