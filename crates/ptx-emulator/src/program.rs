//! A kernel made ready to run: variables have addresses, instructions are decoded.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    isa::{
        self, Execute,
        decode::{DecodeError, Decoder, Pred, RegisterFile, Symbols},
    },
    memory::RESERVED_SHARED,
    report::Kind,
    syntax::ast::{Entry, Instruction, Module, Operand, SourceLine, Space, Span, Variable},
};

/// One decoded instruction and where it comes from.
#[derive(Debug)]
pub struct Decoded {
    /// Does it.
    pub execute: Box<dyn Execute>,
    /// Its guard; [`Pred::TRUE`] without one.
    pub guard: Pred,
    /// Place in the PTX.
    pub span: Span,
    /// What that was compiled from.
    pub source: Option<SourceLine>,
    /// Opcode and modifiers.
    pub mnemonic: Arc<str>,
    /// Rows of the registers that it names, and whether it writes them, as far as the order of
    /// operands tells: results come first.
    pub touches: Box<[(u32, bool)]>,
}

/// A kernel ready to run.
#[derive(Debug)]
pub struct Program {
    /// The kernel's name.
    pub name: String,
    /// The first name of `.target`.
    pub target: String,
    /// Instructions in the order of the text.
    pub instructions: Vec<Decoded>,
    pub(crate) file: RegisterFile,
    /// Where dynamic shared memory begins.
    pub(crate) dynamic_shared: u64,
    /// Bytes of local memory per thread.
    pub(crate) local_bytes: u64,
    /// Constants of the module.
    pub(crate) constants: Vec<u8>,
    /// `.global` variables: offset in one block, and their initial bytes.
    pub(crate) globals: Vec<u8>,
    /// Address and size of each named `.global` variable of the module.
    global_names: BTreeMap<String, (u64, u64)>,
    /// Offset and size of each parameter in the parameter block.
    pub(crate) parameters: Vec<(u64, u64)>,
    /// Bytes of the parameter block.
    pub(crate) parameter_bytes: u64,
    /// `.reqntid`.
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`.
    pub max_block: Option<[u32; 3]>,
    /// `.reqnctapercluster`.
    pub cluster: Option<[u32; 3]>,
    /// Whether `.explicitcluster` is there.
    pub explicit_cluster: bool,
    /// `.maxnreg`.
    pub max_registers: Option<u32>,
}

/// Where the block of `.global` variables is put: the first allocation of every run.
pub(crate) const GLOBALS_BASE: u64 = 0x0002_0000_0000;

/// The registers of an instruction's operands.
fn touches(instruction: &Instruction, file: &RegisterFile) -> Box<[(u32, bool)]> {
    fn collect(operand: &Operand, writes: bool, file: &RegisterFile, into: &mut Vec<(u32, bool)>) {
        match operand {
            Operand::Register(id) => into.extend(file.row(*id).map(|row| (row, writes))),
            Operand::Vector(parts) => {
                for part in parts {
                    collect(part, writes, file, into);
                }
            }
            Operand::Pair(left, right) => {
                collect(left, writes, file, into);
                collect(right, writes, file, into);
            }
            Operand::Memory { base, more, .. } => {
                collect(base, false, file, into);
                for part in more {
                    collect(part, false, file, into);
                }
            }
            _ => {}
        }
    }
    let mut touched = Vec::new();
    for (index, operand) in instruction.operands.iter().enumerate() {
        collect(operand, index == 0, file, &mut touched);
    }
    touched.into()
}

/// A limit for what a module may declare, in bytes: far above what a GPU's windows hold, and
/// small enough to be allocated.
const MOST_BYTES: u64 = 1 << 30;

/// Local memory of a thread in bytes (CUDA C++ Programming Guide 13, "Compute Capabilities").
const MOST_LOCAL: u64 = 512 << 10;

struct Layout {
    static_shared: u64,
    local: u64,
    constants: Vec<u8>,
    globals: Vec<u8>,
    /// Indices of what begins at the dynamic shared memory.
    dynamic: Vec<(bool, usize)>,
}

impl Layout {
    fn place(
        &mut self,
        variable: &Variable,
        key: (bool, usize),
    ) -> Result<Option<(Space, u64)>, DecodeError> {
        let error = |message: String| DecodeError {
            span: variable.span,
            message,
        };
        let align = u64::from(variable.align.max(1));
        let too_large = || error(format!("variable {} is too large", variable.name));
        let claim = |used: u64| -> Result<(u64, u64), DecodeError> {
            let start = used.checked_next_multiple_of(align).ok_or_else(too_large)?;
            let end = start.checked_add(variable.bytes).ok_or_else(too_large)?;
            if end > MOST_BYTES {
                return Err(too_large());
            }
            Ok((start, end))
        };
        Ok(match variable.space {
            Space::Shared if variable.is_extern => {
                self.dynamic.push(key);
                None
            }
            Space::Shared => {
                let (start, end) = claim(self.static_shared)?;
                self.static_shared = end;
                Some((Space::Shared, start))
            }
            Space::Local => {
                let (start, end) = claim(self.local)?;
                if end > MOST_LOCAL {
                    return Err(error(format!(
                        "variable {} does not fit the {MOST_LOCAL} bytes of local memory that a thread has",
                        variable.name
                    )));
                }
                self.local = end;
                Some((Space::Local, start))
            }
            Space::Const => {
                let (start, end) = claim(self.constants.len() as u64)?;
                self.constants.resize(end as usize, 0);
                write_init(&mut self.constants, start, &variable.init);
                Some((Space::Const, start))
            }
            Space::Global if variable.is_extern => None,
            Space::Global => {
                let (start, end) = claim(self.globals.len() as u64)?;
                self.globals.resize(end as usize, 0);
                write_init(&mut self.globals, start, &variable.init);
                Some((Space::Global, GLOBALS_BASE + start))
            }
            Space::Generic | Space::Param => None,
        })
    }
}

fn write_init(block: &mut [u8], start: u64, init: &[u8]) {
    for (byte, value) in block.iter_mut().skip(start as usize).zip(init) {
        *byte = *value;
    }
}

impl Program {
    /// Decodes a kernel of a module.
    ///
    /// # Errors
    /// The first instruction or variable that the emulator does not support, with its place.
    pub fn new(module: &Module, entry: &Entry) -> Result<Self, DecodeError> {
        let mut layout = Layout {
            static_shared: RESERVED_SHARED,
            local: 0,
            constants: Vec::new(),
            globals: Vec::new(),
            dynamic: Vec::new(),
        };
        let mut symbols = Symbols::default();
        let mut global_names = BTreeMap::new();
        for (index, variable) in module.variables.iter().enumerate() {
            let place = layout.place(variable, (true, index))?;
            if let Some((Space::Global, address)) = place {
                global_names.insert(variable.name.to_string(), (address, variable.bytes));
            }
            symbols.module.push(place);
        }
        for (index, variable) in entry.variables.iter().enumerate() {
            let place = layout.place(variable, (false, index))?;
            symbols.local.push(place);
        }
        let dynamic_shared = layout.static_shared.next_multiple_of(1024);
        for (of_module, index) in &layout.dynamic {
            let list = if *of_module {
                &mut symbols.module
            } else {
                &mut symbols.local
            };
            list[*index] = Some((Space::Shared, dynamic_shared));
        }
        let mut parameters = Vec::new();
        let mut parameter_bytes = 0u64;
        for parameter in &entry.parameters {
            let align = u64::from(parameter.align.max(1));
            let start = parameter_bytes.next_multiple_of(align);
            parameter_bytes = start.saturating_add(parameter.bytes);
            if parameter_bytes > 32764 {
                return Err(DecodeError {
                    span: parameter.span,
                    message: format!(
                        "the parameters take {parameter_bytes} bytes, at most 32764 are allowed"
                    ),
                });
            }
            parameters.push((start, parameter.bytes));
            symbols.parameters.push(start);
        }
        let mut file = RegisterFile::new(&entry.registers);
        let mut instructions = Vec::with_capacity(entry.instructions.len());
        for instruction in &entry.instructions {
            let Some(decode) = isa::decoder(&instruction.opcode) else {
                return Err(DecodeError {
                    span: instruction.span,
                    message: format!(
                        "the instruction {} is not supported",
                        instruction.mnemonic()
                    ),
                });
            };
            let mut decoder = Decoder::new(instruction, &mut file, &symbols, &entry.tables);
            let execute = decode(&mut decoder)?;
            decoder.finish()?;
            let guard = decoder.guard()?;
            instructions.push(Decoded {
                execute,
                guard,
                span: instruction.span,
                source: instruction.source.clone(),
                mnemonic: instruction.mnemonic().into(),
                touches: touches(instruction, &file),
            });
        }
        Ok(Self {
            name: entry.name.clone(),
            target: module.target.clone(),
            instructions,
            file,
            dynamic_shared,
            local_bytes: layout.local,
            constants: layout.constants,
            globals: layout.globals,
            global_names,
            parameters,
            parameter_bytes,
            required_block: entry.required_block,
            max_block: entry.max_block,
            cluster: entry.cluster,
            explicit_cluster: entry.explicit_cluster,
            max_registers: entry.max_registers,
        })
    }

    /// Where dynamic shared memory begins, as an address in shared memory.
    pub fn dynamic_shared(&self) -> u64 {
        self.dynamic_shared
    }

    /// Address and size in bytes of a `.global` variable of the module.
    pub fn global(&self, name: &str) -> Option<(u64, u64)> {
        self.global_names.get(name).copied()
    }

    /// Offset and size in bytes of each parameter in the parameter block.
    pub fn parameters(&self) -> &[(u64, u64)] {
        &self.parameters
    }

    pub(crate) fn describe(&self, pc: u32) -> String {
        match self.instructions.get(pc as usize) {
            Some(decoded) => format!("line {}: {}", decoded.span.line, decoded.mnemonic),
            None => "the end of the kernel".to_owned(),
        }
    }
}

impl From<DecodeError> for crate::report::Fault {
    fn from(error: DecodeError) -> Self {
        Self::new(Kind::Unsupported, error.message)
    }
}
