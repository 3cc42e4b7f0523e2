// expect: 4:1: Dialect `nowhere' not found for custom op 'nowhere.op' 
// RUN: bad-input %s

nowhere.op
