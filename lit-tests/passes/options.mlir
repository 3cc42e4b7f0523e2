// Tests that pass options are read strictly: a bad value names what is possible.

// RUN: not pipeline-opt %s --async-pipeline-multistage 2>&1 | FileCheck %s --check-prefix=NO-TARGET
// RUN: not pipeline-opt %s --async-pipeline-multistage=target=sm_75 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not pipeline-opt %s --async-pipeline-multistage="target=sm_80 stages=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not pipeline-opt %s --async-pipeline-insert-barriers="target=sm_80 stages=65" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not pipeline-opt %s --async-pipeline-insert-barriers="target=sm_80 stages=two" 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not pipeline-opt %s --async-pipeline-insert-barriers="target=sm_80 cp-async-arrive=none" 2>&1 | FileCheck %s --check-prefix=ARRIVE
// RUN: not pipeline-opt %s --async-pipeline-verify-barriers="target=sm_80 ptx-version=8" 2>&1 | FileCheck %s --check-prefix=VERSION
// RUN: not pipeline-opt %s --async-pipeline-verify-barriers="target=sm_80 ptx-version=6.0" 2>&1 | FileCheck %s --check-prefix=ANCIENT
// RUN: not pipeline-opt %s --async-pipeline-verify-barriers="target=sm_90a ptx-version=7.8" 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: not pipeline-opt %s --async-pipeline-verify-barriers="target=sm_80 ptx-version=9.9" 2>&1 | FileCheck %s --check-prefix=NEWER
// RUN: not pipeline-opt %s --async-pipeline-lower-to-nvvm="target=sm_80 wait-timeout=-1" 2>&1 | FileCheck %s --check-prefix=TIMEOUT
// RUN: not pipeline-opt %s --async-pipeline-compile="target=sm_80 debug-lines=perhaps" 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: not pipeline-opt %s --async-pipeline-compile="target=sm_80 colour=red" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not pipeline-opt %s --async-pipeline-refuse

// NO-TARGET: error: no target given: add target= with one of sm_80, sm_90a, sm_100a
// OLD: error: unknown target `sm_75`; known targets are sm_80, sm_90a, sm_100a
// ZERO: error: expected stages from 1 to 64, got '0'
// MANY: error: expected stages from 1 to 64, got '65'
// WORD: error: expected stages from 1 to 64, got 'two'
// ARRIVE: error: expected cp-async-arrive to be noinc or inc, got 'none'
// VERSION: error: `8` is not a PTX version; write it as major.minor, for example 8.6
// ANCIENT: error: expected a PTX version from 7.0 to 9.0 for sm_80, got 6.0
// BEFORE: error: expected a PTX version from 8.0 to 9.0 for sm_90a, got 7.8
// NEWER: error: expected a PTX version from 7.0 to 9.0 for sm_80, got 9.9
// TIMEOUT: error: expected wait-timeout from 0 to 1000000000 microseconds, got '-1'
// LINES: error: expected debug-lines to be true or false, got 'perhaps'
// UNKNOWN: no such option colour

gpu.module @kernels {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
