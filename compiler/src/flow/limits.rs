//! The limits of the analysis, by the names that the command line gives them.
//!
//! Some stop a program from being compiled: its message names the limit. The others only say how much work known data
//! and numbers are worth; past them the program is compiled as if they were unknown, and with fewer copies of
//! functions.

use crate::base::{Diagnostic, Span};
use crate::shape::lattice::MAX_PARTS;

/// How far the analysis goes.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many calls of one λ may nest while all control is decided by known numbers.
    pub unroll: usize,
    /// How many calls of one λ may nest before long known data (a list of as many elements) are treated like data that
    /// only run time knows.
    pub max_nesting: usize,
    /// How many variants of one λ may differ in known numbers only; those that a recursion of it goes through count
    /// once.
    pub number_variants: usize,
    /// How many variants one λ may have before all its further calls share one.
    pub lambda_variants: usize,
    /// How many variants there may be in all before the analysis starts again [with less
    /// precision](Options::at).
    pub max_variants: usize,
    /// How many steps the analysis may take before it starts again [with less precision](Options::at). A step looks
    /// at one binding or at one node of a shape.
    pub max_work: usize,
    /// How often `*j` and `j*` may be applied to the same code.
    pub max_order: u32,
    /// How many variables the program and its transforms may have. Transforms of transforms grow exponentially with the
    /// order, so this is what stops them first where much code is transformed often.
    pub max_code: usize,
    /// How often, where each application is behind a decision of run time that the one before led to.
    pub max_dynamic_order: u32,
    /// How many instructions the specialised program may have before it is optimised.
    pub max_instructions: usize,
    /// How many parts a shape may have before it is made by unification. The tape of functions that call each other has
    /// some for each of them.
    pub max_parts: usize,
    /// How many steps each attempt after the first may take; the programs that they were made for need a quarter of
    /// them.
    pub later_work: usize,
    /// The limits that the user has set, by name.
    pub given: Vec<&'static str>,
}

/// The limits on the work for a whole program hold for programs of so many variables, those of the library included,
/// which are most of them; for a longer one they grow with its length.
const USUAL_LENGTH: usize = 8_000;

/// How much an analysis tells apart. Programs for which one attempt is too much work, or makes too much code, get the
/// next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Precision {
    /// What the limits allow.
    Full,
    /// Known numbers do not count, and a λ has few variants. Shapes are exact.
    FewVariants,
    /// Nor do shapes have many parts.
    Coarse,
}

impl Precision {
    /// The next attempt.
    pub fn less(self) -> Option<Precision> {
        match self {
            Precision::Full => Some(Precision::FewVariants),
            Precision::FewVariants => Some(Precision::Coarse),
            Precision::Coarse => None,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            unroll: 24,
            max_nesting: 256,
            number_variants: 64,
            lambda_variants: 4000,
            max_variants: 20_000,
            max_work: 10_000_000,
            max_order: 12,
            max_code: 3_000_000,
            max_dynamic_order: 4,
            max_instructions: 600_000,
            max_parts: MAX_PARTS,
            later_work: 3_000_000,
            given: Vec::new(),
        }
    }
}

/// A limit that a user can set.
#[derive(Debug)]
pub struct Limit {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it limits, for the help of the command line.
    pub about: &'static str,
    /// Its value.
    pub get: fn(&Options) -> usize,
    /// The smallest value with which the analysis still ends.
    least: u32,
    set: fn(&mut Options, u32),
}

/// All limits that a user can set.
pub const LIMITS: [Limit; 10] = [
    Limit {
        name: "unroll",
        about: "nested calls of a function that known numbers decide; past it the numbers count as unknown",
        get: |options| options.unroll,
        least: 0,
        set: |options, value| options.unroll = value as usize,
    },
    Limit {
        name: "nesting",
        about: "nested calls of a function on known data; past it the data count as unknown",
        get: |options| options.max_nesting,
        least: 16,
        set: |options, value| options.max_nesting = value as usize,
    },
    Limit {
        name: "number-variants",
        about: "copies of a function for different known numbers; past it the numbers count as unknown",
        get: |options| options.number_variants,
        least: 0,
        set: |options, value| options.number_variants = value as usize,
    },
    Limit {
        name: "function-variants",
        about: "copies of one function; past it its further calls share one",
        get: |options| options.lambda_variants,
        least: 1,
        set: |options, value| options.lambda_variants = value as usize,
    },
    Limit {
        name: "variants",
        about: "copies of all functions; past it the analysis starts again with fewer",
        get: |options| options.max_variants,
        least: 1,
        set: |options, value| options.max_variants = value as usize,
    },
    Limit {
        name: "work",
        about: "thousands of steps of the analysis; past it the analysis starts again with fewer copies of functions",
        get: |options| options.max_work / 1000,
        least: 0,
        set: |options, value| options.max_work = (value as usize).saturating_mul(1000),
    },
    Limit {
        name: "order",
        about: "how often *j and j* may be applied to one function; past it the program needs the evaluator",
        get: |options| options.max_order as usize,
        least: 0,
        set: |options, value| options.max_order = value,
    },
    Limit {
        name: "code",
        about: "variables of the program and its transforms; past it the program needs the evaluator",
        get: |options| options.max_code,
        least: 1,
        set: |options, value| options.max_code = value as usize,
    },
    Limit {
        name: "dynamic-order",
        about: "the same where the input decides how often; past it the program needs the evaluator",
        get: |options| options.max_dynamic_order as usize,
        least: 0,
        set: |options, value| options.max_dynamic_order = value,
    },
    Limit {
        name: "instructions",
        about: "instructions of the specialised program; past it the program needs the evaluator",
        get: |options| options.max_instructions,
        least: 1,
        set: |options, value| options.max_instructions = value as usize,
    },
];

impl Options {
    /// The limits of an attempt of that precision. After the first one, a λ has few variants, with one for each
    /// [grade](crate::shape::collapse::Grade) of arguments that covers all others.
    pub(super) fn at(&self, precision: Precision) -> Options {
        if precision == Precision::Full {
            return self.clone();
        }
        Options {
            unroll: 0,
            max_nesting: self.max_nesting.min(16),
            number_variants: 0,
            lambda_variants: self.lambda_variants.min(4),
            max_variants: usize::MAX,
            max_work: self.later_work,
            ..self.clone()
        }
    }

    /// The limits for a program of so many variables: those that bound what is done for the whole program grow with its
    /// length, unless the user has set them.
    pub fn for_length(&self, variables: usize) -> Options {
        let length = variables.max(USUAL_LENGTH);
        let mut options = self.clone();
        let grow = |limit: usize| limit.saturating_mul(length) / USUAL_LENGTH;
        for (name, limit) in [
            ("function-variants", &mut options.lambda_variants),
            ("variants", &mut options.max_variants),
            ("work", &mut options.max_work),
            ("code", &mut options.max_code),
            ("instructions", &mut options.max_instructions),
        ] {
            if !self.given.contains(&name) {
                *limit = grow(*limit);
            }
        }
        options.max_parts = grow(options.max_parts);
        options.later_work = grow(options.later_work);
        options
    }

    /// Sets the limit of that name.
    ///
    /// # Errors
    ///
    /// When there is none, or the value is too small.
    pub fn set(&mut self, name: &str, value: u32) -> Result<(), String> {
        match LIMITS.iter().find(|limit| limit.name == name) {
            Some(limit) if value < limit.least => Err(format!("`{name}` must be at least {}", limit.least)),
            Some(limit) => {
                (limit.set)(self, value);
                self.given.push(limit.name);
                Ok(())
            }
            None => {
                let names: Vec<&str> = LIMITS.iter().map(|limit| limit.name).collect();
                Err(format!("there is no limit `{name}`; the limits are {}", names.join(", ")))
            }
        }
    }

    /// What is said of a program that the limit of that name leaves to the evaluator; `remedy` would have it compiled.
    pub fn refusal(&self, name: &str, message: &str, (span, label): (Span, &str), remedy: &str) -> Diagnostic {
        let value = LIMITS.iter().find(|limit| limit.name == name).map_or(0, |limit| (limit.get)(self));
        Diagnostic::error("V0401", message, span, label)
            .note(format!("the limit `{name}` is {value}; `--limit {name}=NUMBER` sets another"))
            .help(remedy)
            .as_warning()
    }
}
