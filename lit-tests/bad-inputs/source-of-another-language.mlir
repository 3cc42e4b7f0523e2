// expect: ?
// RUN: bad-input %s

#include <stdio.h>
int main() { return 0; }
