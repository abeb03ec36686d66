//! What functions of the library take: the arguments of a call that has failed → which of them is of a wrong kind.
//!
//! Nothing asks as long as nothing fails: functions of the library do not test their arguments for this. The flow
//! analysis knows the kinds of the arguments where a program is compiled, and the evaluator looks at the arguments of
//! each call that the program itself makes.

use crate::base::Diagnostic;
use crate::core::errors::{Arguments, Found, Kind};
use std::rc::Rc;

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// Values of several kinds.
    Any,
    /// A number.
    Number,
    /// A number that counts something.
    Count,
    /// A text.
    Text,
    /// A function.
    Function,
    /// A list.
    List,
    /// A vector.
    Vector,
    /// A vector of numbers.
    Numbers,
    /// A vector or a list of rows.
    Matrix,
    /// A vector or a list.
    Row,
}

impl Wanted {
    /// All of them, with the words for them in tables.
    pub const WORDS: [(&'static str, Wanted); 9] = [
        ("any", Wanted::Any),
        ("number", Wanted::Number),
        ("count", Wanted::Count),
        ("text", Wanted::Text),
        ("function", Wanted::Function),
        ("list", Wanted::List),
        ("vector", Wanted::Vector),
        ("numbers", Wanted::Numbers),
        ("matrix", Wanted::Matrix),
    ];

    /// The words for it in messages.
    fn describe(self) -> &'static str {
        match self {
            Wanted::Any => "a value",
            Wanted::Number => "a real number",
            Wanted::Count => "a whole number, 0 or more",
            Wanted::Text => "a string",
            Wanted::Function => "a procedure",
            Wanted::List => "a list",
            Wanted::Vector => "a vector",
            Wanted::Numbers => "a vector of numbers",
            Wanted::Matrix => "a matrix, a vector of rows",
            Wanted::Row => "a vector",
        }
    }

    /// Whether a value of that kind may be taken. What it is made of is another matter.
    fn takes(self, kind: &Kind) -> bool {
        match (self, kind) {
            (_, Kind::OneOf(kinds)) => kinds.iter().any(|kind| self.takes(kind)),
            (Wanted::Any, _) => true,
            (Wanted::Number | Wanted::Count, kind) => matches!(kind, Kind::Real | Kind::Reverse | Kind::Forward),
            (Wanted::Text, kind) => *kind == Kind::Text,
            (Wanted::Function, kind) => *kind == Kind::Procedure,
            (Wanted::List, kind) => kind.is_list(),
            (Wanted::Vector | Wanted::Numbers, kind) => *kind == Kind::Vector,
            (Wanted::Matrix | Wanted::Row, kind) => *kind == Kind::Vector || kind.is_list(),
        }
    }

    /// What the elements have to be of a vector, or of the list that a matrix may be.
    fn element(self) -> Wanted {
        match self {
            Wanted::Numbers => Wanted::Number,
            Wanted::Matrix => Wanted::Row,
            _ => Wanted::Any,
        }
    }
}

/// What a function of the library takes, and how it is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Contract {
    /// The name that programs call it by.
    pub name: Rc<str>,
    /// A call of it, as its documentation has it.
    pub call: Rc<str>,
    /// What its documentation says, in one sentence; may be empty.
    pub about: Rc<str>,
    /// What each parameter takes.
    pub wanted: Rc<[Wanted]>,
    /// Whether the last of these is said of all further arguments.
    pub takes_more: bool,
    /// Whether a call with many arguments becomes calls with two, so that it is not known which of them is which.
    pub is_folded: bool,
}

/// What is asked about values.
pub trait Values {
    /// A value, or what is known of it.
    type Value: Clone;
    /// Its kind, if that is known.
    fn kind(&self, value: &Self::Value) -> Option<Kind>;
    /// The parts of a pair.
    fn pair(&self, value: &Self::Value) -> Option<[Self::Value; 2]>;
    /// An element of a vector that has one.
    fn element(&self, value: &Self::Value) -> Option<Self::Value>;
    /// What a message says about it; `None` if nothing is known.
    fn found(&self, value: &Self::Value) -> Option<Found>;
}

impl Contract {
    /// What is wrong with the arguments of a call, a tuple; `passed` is how many are written there, where there is more
    /// than one.
    pub fn misfit<V: Values>(&self, values: &V, tuple: &V::Value, passed: Option<usize>) -> Option<Misfit> {
        let own = self.wanted.len();
        let most = if self.takes_more { passed.unwrap_or(own).max(own) } else { own };
        let mut arguments = vec![tuple.clone()];
        while arguments.len() < most
            && let Some([first, rest]) = arguments.last().and_then(|last| values.pair(last))
        {
            arguments.pop();
            arguments.extend([first, rest]);
        }
        // What lacks arguments does not fit the parameters, which the function says itself.
        if arguments.len() < own || own == 0 {
            return None;
        }
        let wanted: Vec<Wanted> = (0..arguments.len()).map(|place| self.wanted[place.min(own - 1)]).collect();
        let wrong = |wanted: Wanted, argument: &V::Value| fault(values, wanted, argument);
        let place = (0..wanted.len()).find(|place| wrong(wanted[*place], &arguments[*place]).is_some())?;
        let mut misfit = Misfit {
            wanted: wanted[place],
            inside: false,
            found: values.found(&arguments[place])?,
            place,
            alone: wanted.len() == 1,
            other: None,
            number: None,
        };
        // A list in place of all arguments is taken for them.
        let written = passed.unwrap_or(1);
        if written < own || !self.takes_more && written > own && place + 1 == own {
            misfit.number = Some(written);
            return Some(misfit);
        }
        let fits_with = |other: usize| {
            let mut order: Vec<usize> = (0..wanted.len()).collect();
            order.swap(place, other);
            wanted.iter().zip(order).all(|(wanted, from)| wrong(*wanted, &arguments[from]).is_none())
        };
        match wrong(misfit.wanted, &arguments[place]) {
            Some(Some(element)) => {
                misfit.inside = true;
                misfit.found = values.found(&element)?;
            }
            // An argument may be right where it stands and also in the other place, such as a start value.
            _ => {
                misfit.other = (place + 1..wanted.len()).find(|other| fits_with(*other));
            }
        }
        Some(misfit)
    }
}

/// Whether a value is certainly not what is wanted; the element, if that is what is wrong.
fn fault<V: Values>(values: &V, wanted: Wanted, value: &V::Value) -> Option<Option<V::Value>> {
    if !wanted.takes(&values.kind(value)?) {
        return Some(None);
    }
    let first = || values.pair(value).filter(|_| wanted == Wanted::Matrix).map(|[first, _]| first);
    let element = values.element(value).or_else(first).filter(|_| wanted.element() != Wanted::Any)?;
    (!wanted.element().takes(&values.kind(&element)?)).then_some(Some(element))
}

/// An argument that is not what the function takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Misfit {
    wanted: Wanted,
    /// Whether an element of the argument is wrong.
    inside: bool,
    found: Found,
    /// Which argument, from 0.
    place: usize,
    /// Whether there is no other.
    alone: bool,
    /// The argument that would fit in its place, as it would in the place of that one.
    other: Option<usize>,
    /// How many arguments are written, if that is what is wrong.
    number: Option<usize>,
}

impl Misfit {
    /// The message instead of one about what the function has come to with such an argument.
    pub fn instead_of(&self, mut message: Diagnostic, contract: &Contract) -> Diagnostic {
        if let Some(found) = self.number {
            let (function, expected) = (contract.name.to_string(), contract.wanted.len());
            (message.code, message.message) = ("V0304", Arguments { function, expected, found }.describe());
            message.notes = vec![contract.describe()];
            return message.help(contract.help());
        }
        let which = match (self.alone, contract.is_folded) {
            (true, _) => "the argument".to_string(),
            (false, true) => "an argument".to_string(),
            (false, false) => format!("the {} argument", ordinal(self.place)),
        };
        let what = match (self.inside, self.wanted) {
            (true, Wanted::Matrix) => "a matrix",
            (true, Wanted::Numbers) => "a vector of numbers",
            _ => self.wanted.describe().split(',').next().unwrap_or_default(),
        };
        message.code = "V0326";
        message.message = format!("{which} of `{}` is not {what}", contract.name);
        // Compiled code does not know of all lists whether they are empty.
        let kind = if self.found.kind.is_list() { "a list or pair".into() } else { self.found.kind.describe() };
        let expectation = match self.inside {
            true => format!("expected {}, found {kind} among the elements", self.wanted.element().describe()),
            false => format!("expected {}, found {kind}", self.wanted.describe()),
        };
        message.notes = vec![expectation];
        message.notes.extend(self.found.value.as_ref().map(|value| format!("the value is {value}")));
        message.notes.push(contract.describe());
        message.help = self.help(contract);
        message
    }

    /// How to mend the call.
    fn help(&self, contract: &Contract) -> Option<String> {
        if let Some(other) = self.other {
            let [one, other] = [self.place, other].map(ordinal);
            return Some(format!("the {one} and the {other} argument stand in each other's place"));
        }
        Some(match (self.wanted, &self.found.kind) {
            (Wanted::Vector | Wanted::Numbers, kind) if kind.is_list() => {
                "`list->vector` makes a vector of a list; `map`, `fold-left`, `length` and `list-ref` take lists".into()
            }
            (Wanted::Matrix, Kind::Real) if self.inside => {
                "a matrix is a vector of rows, which are vectors: with one row it is `(vector v)`".into()
            }
            (Wanted::List, Kind::Vector) => {
                "`vector->list` makes a list of a vector; `vector-map`, `vector-fold`, `vector-length` and \
                 `vector-ref` take vectors"
                    .into()
            }
            (Wanted::Number, kind) if contract.takes_more && kind.is_list() => {
                let name = &contract.name;
                format!("`{name}` takes the numbers themselves: `(reduce {name} 0 l)` takes them from a list")
            }
            (Wanted::Number, Kind::Vector) if contract.takes_more => {
                let name = &contract.name;
                format!("`{name}` takes the numbers themselves: `vector-{name}` takes them from a vector")
            }
            (Wanted::Number | Wanted::Count, Kind::Vector) => {
                "use `vector-map` for each element of a vector, or `vector-fold` for all of them".into()
            }
            (Wanted::Number | Wanted::Count, kind) if kind.is_list() => {
                "use `map` for each element of a list, or `fold-left` for all of them".into()
            }
            (Wanted::Function, _) => {
                "hand over the function itself, by its name or as a `lambda`: `(f x)` is already its value".into()
            }
            (Wanted::Text, Kind::Real) => "`number->string` makes a string of a number".into(),
            (Wanted::Number | Wanted::Count, Kind::Procedure) => {
                "a procedure is called in parentheses: `(f x)` is its value".into()
            }
            _ => return None,
        })
    }
}

impl Contract {
    /// What to do about a wrong number of arguments.
    pub fn help(&self) -> String {
        format!("call it as `{}`", self.call)
    }

    /// How the function is called, and what it does.
    pub fn describe(&self) -> String {
        match &*self.about {
            "" => format!("it is called as `{}`", self.call),
            about => format!("`{}`: {about}", self.call),
        }
    }
}

fn ordinal(place: usize) -> String {
    match ["first", "second", "third", "fourth", "fifth", "sixth"].get(place) {
        Some(word) => word.to_string(),
        None => format!("{}th", place + 1),
    }
}
