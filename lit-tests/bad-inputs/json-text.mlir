// expect: ?
// RUN: bad-input %s

{"schema_version": 1, "kernels": []}
