//! Results of calls that are remembered: see [`crate::opt::interprocedural::sharing`].

use super::{Datum, Error, Machine, broken};
use crate::ssa::ir::{FuncId, Inst, Type, Value};
use crate::ssa::verify::Stage;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Results by function and arguments. Owns all of them, so that no box takes the place of another one meanwhile.
pub(super) type Remembered = FxHashMap<(FuncId, Vec<Key>), (Vec<Datum>, Vec<Datum>)>;

/// What tells one argument from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// The bits of a number, or another value that is no box.
    Bits(u64),
    /// The address of a box.
    Box(usize),
}

fn key(datum: &Datum) -> Result<Key, Error> {
    Ok(match datum {
        Datum::Real(x) => Key::Bits(x.to_bits()),
        Datum::Bool(x) => Key::Bits(u64::from(*x)),
        Datum::Int(x) => Key::Bits(x.cast_unsigned()),
        Datum::Immediate(tag) => Key::Bits(u64::from(*tag)),
        Datum::Box(data) => Key::Box(Rc::as_ptr(data).addr()),
        other => return broken(format!("{other:?} cannot be remembered")),
    })
}

impl Machine<'_, '_> {
    /// Whether some of the values are boxes, and all of these have more than one owner. Nobody knows before owners are
    /// counted.
    pub(super) fn is_shared(&self, base: usize, values: &[Value]) -> Result<Datum, Error> {
        let mut boxes = 0;
        let mut shared = 0;
        for datum in self.hand_on(base, values)? {
            if let Datum::Box(data) = datum {
                boxes += 1;
                shared += usize::from(data.owners.get() > 1);
            }
        }
        Ok(Datum::Bool(self.options.stage == Stage::Counted && boxes > 0 && boxes == shared))
    }

    /// Whether the results of a call are remembered, and the results, which get an owner.
    pub(super) fn recall(&mut self, callee: FuncId, base: usize, inst: &Inst) -> Result<(), Error> {
        let args = self.hand_on(base, &inst.args)?;
        let key = (callee, args.iter().map(key).collect::<Result<_, _>>()?);
        let found = self.remembered.get(&key).map(|(_, results)| results.clone());
        self.values[base + inst.results[0].0 as usize] = Datum::Bool(found.is_some());
        let results = found.unwrap_or_else(|| {
            let nothing = |ty: &Type| match ty {
                Type::Ptr => Datum::Immediate(0),
                _ => Datum::Vacant,
            };
            self.program.functions[callee].results.iter().map(nothing).collect()
        });
        for (value, result) in inst.results[1..].iter().zip(results) {
            own(&result);
            self.values[base + value.0 as usize] = result;
        }
        Ok(())
    }

    /// Remembers the results of a call.
    pub(super) fn remember(&mut self, callee: FuncId, base: usize, values: &[Value]) -> Result<(), Error> {
        let count = self.program.functions[callee].params().len();
        let mut args = self.hand_on(base, values)?;
        let results = args.split_off(count);
        let keys = args.iter().map(key).collect::<Result<_, _>>()?;
        args.iter().chain(&results).for_each(own);
        match self.remembered.insert((callee, keys), (args, results)) {
            Some(_) => broken(format!("results of {callee} are remembered twice")),
            None => Ok(()),
        }
    }

    /// Forgets all that is remembered.
    pub(super) fn forget(&mut self) -> Result<(), Error> {
        let all = std::mem::take(&mut self.remembered);
        self.release_all(Value(0), all.into_values().flat_map(|(args, results)| [args, results]).flatten().collect())
    }
}

/// One more owner of a box.
fn own(datum: &Datum) {
    if let Datum::Box(data) = datum {
        data.owners.set(data.owners.get() + 1);
    }
}
