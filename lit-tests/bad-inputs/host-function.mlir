// expect: ?
// RUN: bad-input %s

func.func @main() {
  return
}
