// expect: ?
// RUN: bad-input %s

module {
}
