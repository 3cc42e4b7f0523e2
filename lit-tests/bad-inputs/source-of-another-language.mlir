// expect: 4:9: expected '=' in attribute alias definition
// RUN: bad-input %s

#include <stdio.h>
int main() { return 0; }
