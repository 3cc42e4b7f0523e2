// expect: 4:1: expected operation name in quotes
// RUN: bad-input %s

{"schema_version": 1, "kernels": []}
