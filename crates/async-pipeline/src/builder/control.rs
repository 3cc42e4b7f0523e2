//! Loops and branches.

use super::{
    BuildError, BuildProblem, Element, Index, KernelBuilder, Value, handle::Name, types::range,
};

/// Loops and branches nest this deep at most: far above what a kernel needs, and less than
/// what the parser of the text refuses.
const MAX_NESTING: usize = 128;
/// Most slots of a channel.
const MAX_STAGES: u32 = 64;

/// The numbers that a loop counts.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    lower: Index,
    upper: Index,
    step: Index,
    stages: Option<u32>,
    exactly: bool,
}

impl Loop {
    /// From `lower` up to, but not including, `upper`, in steps of `step`, which has to be
    /// positive when the kernel runs.
    pub fn new(lower: Index, upper: Index, step: Index) -> Self {
        Self {
            lower,
            upper,
            step,
            stages: None,
            exactly: false,
        }
    }

    /// How many tiles of each buffer that the loop's copies fill are in flight at most: 1 to
    /// 64, fewer where shared memory is short.
    pub fn stages(mut self, most: u32) -> Self {
        (self.stages, self.exactly) = (Some(most), false);
        self
    }

    /// As [`stages`](Self::stages), but neither more nor fewer.
    pub fn exactly(mut self, stages: u32) -> Self {
        (self.stages, self.exactly) = (Some(stages), true);
        self
    }
}

impl KernelBuilder {
    /// A loop; the body gets the counter.
    ///
    /// # Errors
    /// Stages out of range, or what the body returns; then no loop has been built.
    pub fn for_each(
        &mut self,
        range: Loop,
        body: impl FnOnce(&mut Self, Index) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        self.for_carrying(range, &[], |builder, counter, _| {
            body(builder, counter)?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// A loop that carries register values from one iteration to the next. The body gets the
    /// counter and the values, `initial` at first, and returns those of the next iteration; the
    /// last ones are the results.
    ///
    /// # Errors
    /// Stages out of range, values of other types than `initial`, or what the body returns;
    /// then no loop has been built.
    pub fn for_carrying(
        &mut self,
        range_of: Loop,
        initial: &[Value],
        body: impl FnOnce(&mut Self, Index, &[Value]) -> Result<Vec<Value>, BuildError>,
    ) -> Result<Vec<Value>, BuildError> {
        let Loop {
            lower,
            upper,
            step,
            stages,
            exactly,
        } = range_of;
        if let Some(stages) = stages {
            self.located(range("stages", u64::from(stages), 1, u64::from(MAX_STAGES)))?;
        }
        let bounds = self.used_all([lower.id, upper.id, step.id])?;
        let starts = self.used_all(initial.iter().map(|value| value.id))?;
        let counter = self.number();
        let names: Vec<u32> = initial.iter().map(|_| self.number()).collect();
        let mut head = format!(
            "scf.for %{counter} = {} to {} step {}",
            bounds[0], bounds[1], bounds[2]
        );
        let mut results = 0;
        if !initial.is_empty() {
            results = self.number();
            let carried: Vec<String> = names
                .iter()
                .zip(&starts)
                .map(|(name, start)| format!("%{name} = {start}"))
                .collect();
            head = format!(
                "%{results}:{} = {head} iter_args({}) -> ({})",
                initial.len(),
                carried.join(", "),
                types(initial)
            );
        }
        let mut attributes = String::new();
        if let Some(stages) = stages {
            let exactly = if exactly {
                ", async_pipeline.exactly"
            } else {
                ""
            };
            attributes = format!(" {{async_pipeline.stages = {stages} : i32{exactly}}}");
        }
        let start = self.body.len();
        self.line(&format!("{head} {{"));
        let yielded = self.region(initial, |builder| {
            let counter = Index {
                id: builder.id(Name::Value(counter)),
            };
            let carried: Vec<Value> = names
                .iter()
                .zip(initial)
                .map(|(name, start)| builder.value(Name::Value(*name), start.ty))
                .collect();
            body(builder, counter, &carried)
        });
        self.undone_unless(start, yielded)?;
        self.op(&format!("}}{attributes}"));
        Ok(self.results_of(results, initial))
    }

    /// Does something only where the condition, a scalar of type i1, holds.
    ///
    /// # Errors
    /// A condition of another type, or what the body returns; then no branch has been built.
    pub fn when(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let condition = self.condition(condition)?;
        let start = self.body.len();
        self.line(&format!("scf.if {condition} {{"));
        let done = self.region(&[], |builder| {
            then(builder)?;
            Ok(Vec::new())
        });
        self.undone_unless(start, done)?;
        self.op("}");
        Ok(())
    }

    /// Does one of two things; the condition is a scalar of type i1. The results are the values
    /// that the branch which is taken returns: as many, and of the same types, on both sides.
    ///
    /// # Errors
    /// A condition of another type, results of different types, or what a branch returns; then
    /// no branch has been built.
    pub fn choose(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self) -> Result<Vec<Value>, BuildError>,
        otherwise: impl FnOnce(&mut Self) -> Result<Vec<Value>, BuildError>,
    ) -> Result<Vec<Value>, BuildError> {
        let condition = self.condition(condition)?;
        let start = self.body.len();
        let first = self.in_scope(|builder| {
            let values = then(builder)?;
            builder.yields(&values)?;
            Ok(values)
        });
        let first = self.undone_unless(start, first)?;
        // The types of the results are known only now.
        let mut head = format!("scf.if {condition} {{");
        let mut results = 0;
        if !first.is_empty() {
            results = self.number();
            head = format!(
                "%{results}:{} = scf.if {condition} -> ({}) {{",
                first.len(),
                types(&first)
            );
        }
        let arm = self.body.split_off(start.min(self.body.len()));
        self.line(&head);
        self.body += &arm;
        self.line("} else {");
        let second = self.region(&first, otherwise);
        self.undone_unless(start, second)?;
        self.op("}");
        Ok(self.results_of(results, &first))
    }

    fn condition(&self, condition: Value) -> Result<String, BuildError> {
        let expected = Element::Int(1).into();
        if condition.ty != expected {
            return self.wrong(BuildProblem::Type {
                expected,
                got: condition.ty,
            });
        }
        self.used(condition.id)
    }

    /// Runs a body in a scope of its own and ends it with a yield of values like these.
    fn region(
        &mut self,
        like: &[Value],
        body: impl FnOnce(&mut Self) -> Result<Vec<Value>, BuildError>,
    ) -> Result<(), BuildError> {
        self.in_scope(|builder| {
            let values = body(builder)?;
            if values.len() != like.len() {
                return builder.wrong(BuildProblem::Count {
                    what: "values at the end of a body",
                    expected: like.len(),
                    got: values.len(),
                });
            }
            for (value, like) in values.iter().zip(like) {
                if value.ty != like.ty {
                    return builder.wrong(BuildProblem::Type {
                        expected: like.ty,
                        got: value.ty,
                    });
                }
            }
            builder.yields(&values)
        })
    }

    /// Runs a body in a scope of its own, which ends with it, as does the place it has set.
    fn in_scope<T>(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<T, BuildError>,
    ) -> Result<T, BuildError> {
        if self.scopes.len() > MAX_NESTING {
            return self.wrong(BuildProblem::TooDeep(MAX_NESTING));
        }
        let (outside, place) = (self.id, self.place.clone());
        self.scopes_made += 1;
        self.scopes.push(self.scopes_made);
        let done = body(self);
        if self.id != outside {
            // The body has put another builder in the place of this one.
            return self.wrong(BuildProblem::Foreign);
        }
        self.scopes.pop();
        self.place = place;
        done
    }

    fn yields(&mut self, values: &[Value]) -> Result<(), BuildError> {
        if values.is_empty() {
            return Ok(());
        }
        let names = self.used_all(values.iter().map(|value| value.id))?;
        self.op(&format!(
            "scf.yield {} : {}",
            names.join(", "),
            types(values)
        ));
        Ok(())
    }

    /// Takes back everything from a place in the text on, if it went wrong.
    fn undone_unless<T>(
        &mut self,
        start: usize,
        done: Result<T, BuildError>,
    ) -> Result<T, BuildError> {
        if done.is_err() {
            self.body.truncate(start);
        }
        done
    }

    fn results_of(&self, number: u32, like: &[Value]) -> Vec<Value> {
        (0..)
            .zip(like)
            .map(|(part, value)| self.value(Name::Result(number, part), value.ty))
            .collect()
    }
}

fn types(values: &[Value]) -> String {
    let all: Vec<String> = values.iter().map(|value| value.ty.to_string()).collect();
    all.join(", ")
}
