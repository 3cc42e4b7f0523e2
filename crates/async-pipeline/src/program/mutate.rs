//! Small damage to a program, for testing that an analysis notices it.

use super::{Block, Function, IntegerBinary, Operation, Program, Register, Statement, StatementId};

/// One change of one statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Leaves out an arrive, with or without bytes, or an asynchronous arrive.
    DeleteArrive(StatementId),
    /// Leaves out a wait for a barrier.
    DeleteWait(StatementId),
    /// Leaves out a fence.
    DeleteFence(StatementId),
    /// Leaves out a barrier of the CTA, a named barrier or a warp synchronisation.
    DeleteMeeting(StatementId),
    /// Leaves out a copy.
    DeleteCopy(StatementId),
    /// Leaves out a wait for groups.
    DeleteGroupWait(StatementId),
    /// Adds to the bytes that an `expect_tx` announces.
    ChangeBytes(StatementId, i32),
    /// Waits for the other parity.
    FlipParity(StatementId),
    /// Adds to the count of an `init`.
    ChangeCount(StatementId, i32),
}

impl Mutation {
    /// The statement that changes.
    pub fn statement(self) -> StatementId {
        match self {
            Mutation::DeleteArrive(id)
            | Mutation::DeleteWait(id)
            | Mutation::DeleteFence(id)
            | Mutation::DeleteMeeting(id)
            | Mutation::DeleteCopy(id)
            | Mutation::DeleteGroupWait(id)
            | Mutation::ChangeBytes(id, _)
            | Mutation::FlipParity(id)
            | Mutation::ChangeCount(id, _) => id,
        }
    }

    fn deletes(self) -> bool {
        !matches!(
            self,
            Mutation::ChangeBytes(..) | Mutation::FlipParity(_) | Mutation::ChangeCount(..)
        )
    }
}

impl Program {
    /// Every mutation that applies, in program order. Bytes change by 16 either way,
    /// counts by one either way (a count stays at least 1).
    pub fn mutations(&self) -> Vec<Mutation> {
        let mut out = Vec::new();
        self.for_each_statement(&mut |statement| mutations_of(statement, &mut out));
        out
    }

    /// The program after a mutation; the program itself if nothing has its number.
    pub fn mutated(&self, mutation: Mutation) -> Program {
        let mut program = self.clone();
        let mut fresh = program.registers;
        program.for_each_block_mut(&mut |block| {
            // Statements that an earlier mutation put in front carry the same number.
            let found = block
                .statements
                .iter()
                .rposition(|s| s.id == mutation.statement());
            let Some(index) = found else { return };
            if mutation.deletes() {
                delete(block, index);
            } else {
                change(block, index, mutation, &mut fresh);
            }
        });
        program.registers = fresh;
        program
    }
}

fn mutations_of(statement: &Statement, out: &mut Vec<Mutation>) {
    let id = statement.id;
    match &statement.operation {
        Operation::Init { count, .. } => {
            out.push(Mutation::ChangeCount(id, 1));
            if *count > 1 {
                out.push(Mutation::ChangeCount(id, -1));
            }
        }
        Operation::Arrive { .. } | Operation::CpAsyncArrive { .. } => {
            out.push(Mutation::DeleteArrive(id));
        }
        Operation::ArriveExpectTx { .. } => out.extend([
            Mutation::DeleteArrive(id),
            Mutation::ChangeBytes(id, 16),
            Mutation::ChangeBytes(id, -16),
        ]),
        Operation::ExpectTx { .. } => {
            out.extend([
                Mutation::ChangeBytes(id, 16),
                Mutation::ChangeBytes(id, -16),
            ]);
        }
        Operation::Wait { .. } => {
            out.extend([Mutation::DeleteWait(id), Mutation::FlipParity(id)]);
        }
        Operation::CpAsync { .. }
        | Operation::BulkLoad { .. }
        | Operation::BulkStore { .. }
        | Operation::TmaLoad { .. }
        | Operation::TmaStore { .. } => out.push(Mutation::DeleteCopy(id)),
        Operation::CpAsyncWait { .. } | Operation::BulkWait { .. } => {
            out.push(Mutation::DeleteGroupWait(id));
        }
        Operation::FenceMbarrierInit | Operation::FenceProxyAsync => {
            out.push(Mutation::DeleteFence(id));
        }
        Operation::CtaBarrier | Operation::NamedBarrier { .. } | Operation::WarpSync => {
            out.push(Mutation::DeleteMeeting(id));
        }
        _ => {}
    }
}

fn delete(block: &mut Block, index: usize) {
    let statement = block.statements.remove(index);
    // Whoever reads the state of a deleted arrive gets one that no barrier handed out.
    if let Operation::Arrive {
        state: Some(state), ..
    } = statement.operation
    {
        let operation = Operation::Compute {
            function: Function::Scalar(0),
            operands: Vec::new(),
            result: state,
        };
        block.statements.insert(
            index,
            Statement {
                operation,
                ..statement
            },
        );
    }
}

fn change(block: &mut Block, index: usize, mutation: Mutation, fresh: &mut u32) {
    let mut new_register = || {
        let register = Register(*fresh);
        *fresh += 1;
        register
    };
    let Some(statement) = block.statements.get_mut(index) else {
        return;
    };
    let (id, place) = (statement.id, statement.place);
    let (operand, function, constant) = match (&mut statement.operation, mutation) {
        (Operation::Init { count, .. }, Mutation::ChangeCount(_, delta)) => {
            *count = count.saturating_add_signed(delta);
            return;
        }
        (Operation::Wait { parity, .. }, Mutation::FlipParity(_)) => {
            (parity, IntegerBinary::Xor, 1)
        }
        (
            Operation::ArriveExpectTx { bytes, .. } | Operation::ExpectTx { bytes, .. },
            Mutation::ChangeBytes(_, delta),
        ) => (bytes, IntegerBinary::Add, u64::from(delta.cast_unsigned())),
        _ => return,
    };
    let (constant_register, result) = (new_register(), new_register());
    let operands = vec![*operand, constant_register];
    *operand = result;
    let computed = [
        Operation::Compute {
            function: Function::Scalar(constant),
            operands: Vec::new(),
            result: constant_register,
        },
        Operation::Compute {
            function: Function::Integer(function, 32),
            operands,
            result,
        },
    ];
    for operation in computed.into_iter().rev() {
        block.statements.insert(
            index,
            Statement {
                id,
                place,
                operation,
            },
        );
    }
}
