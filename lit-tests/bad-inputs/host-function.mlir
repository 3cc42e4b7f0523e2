// expect: 4:1: Dialect `func' not found for custom op 'func.func' 
// RUN: bad-input %s

func.func @main() {
  return
}
