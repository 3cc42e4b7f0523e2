// expect: 4:2: expected three consecutive dots for an ellipsis
// RUN: bad-input %s

.version 8.6
.target sm_90a
.address_size 64
.visible .entry k() { ret; }
