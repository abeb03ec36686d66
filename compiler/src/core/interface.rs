//! What the callers of a library know of its functions: names, and the types of what they pass and get.

use std::rc::Rc;

/// The first number that a call of a library passes, if it is to compute the values of all globals,
pub const INITIALISE: f64 = 0.0;

/// and if it is to call a function, whose number is next.
pub const CALL: f64 = 1.0;

/// A type of arguments and results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number.
    Real,
    /// A vector of numbers.
    Vector,
    /// A vector of vectors of one length.
    Matrix,
    /// A pair of pairs: the second part of each but the last is the next.
    Tuple(Vec<Type>),
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in the program.
    pub name: Rc<str>,
    /// Its type.
    pub ty: Type,
}

/// A function of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name in the program.
    pub name: Rc<str>,
    /// What its callers pass.
    pub parameters: Vec<Parameter>,
    /// If it computes a value and its gradient: the positions of the parameters with respect to which.
    pub gradient: Option<Vec<usize>>,
    /// The type of its value, once that is known.
    pub result: Option<Type>,
}

impl Type {
    /// The numbers and arrays that values of the type consist of, each with its place: for each tuple around it, the
    /// position in it.
    pub fn leaves(&self) -> Vec<(Vec<usize>, Type)> {
        let Type::Tuple(parts) = self else { return vec![(Vec::new(), self.clone())] };
        let leaves_of = |(position, part): (usize, &Type)| {
            part.leaves().into_iter().map(move |(place, ty)| ([vec![position], place].concat(), ty))
        };
        parts.iter().enumerate().flat_map(leaves_of).collect()
    }
}

/// The name of something in C, Python and Rust: hyphens become underscores. `None` if it cannot be one there.
pub fn identifier(name: &str) -> Option<String> {
    let name = name.replace('-', "_");
    let mut characters = name.chars();
    let begins = characters.next().is_some_and(|c| c.is_ascii_alphabetic());
    let goes_on = characters.all(|c| c.is_ascii_alphanumeric() || c == '_');
    (begins && goes_on && !RESERVED.contains(&&*name)).then_some(name)
}

/// Words that are no names in C, C++, Python or Rust, names that the generated modules have for themselves, and names
/// that C's headers and compilers define as macros.
const RESERVED: &[&str] = &[
    "BUFSIZ",
    "Context",
    "EOF",
    "Err",
    "Error",
    "Function",
    "HUGE_VAL",
    "I",
    "INFINITY",
    "M_E",
    "M_PI",
    "NAN",
    "NULL",
    "None",
    "Ok",
    "RAND_MAX",
    "Self",
    "Some",
    "True",
    "False",
    "alignas",
    "alignof",
    "and_eq",
    "bitand",
    "bitor",
    "bounds",
    "char8_t",
    "char16_t",
    "char32_t",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "complex",
    "concept",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "decltype",
    "dynamic_cast",
    "errno",
    "i386",
    "imaginary",
    "linux",
    "noexcept",
    "not_eq",
    "nullptr",
    "or_eq",
    "out",
    "reinterpret_cast",
    "requires",
    "size_t",
    "static_assert",
    "static_cast",
    "stderr",
    "stdin",
    "stdout",
    "thread_local",
    "typeid",
    "uint64_t",
    "unix",
    "wchar_t",
    "xor",
    "xor_eq",
    "abstract",
    "and",
    "as",
    "asm",
    "assert",
    "async",
    "auto",
    "await",
    "become",
    "bool",
    "box",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "context",
    "crate",
    "def",
    "default",
    "del",
    "delete",
    "do",
    "double",
    "dyn",
    "elif",
    "else",
    "enum",
    "except",
    "explicit",
    "export",
    "extern",
    "final",
    "finally",
    "float",
    "fn",
    "for",
    "friend",
    "from",
    "gen",
    "global",
    "goto",
    "if",
    "impl",
    "import",
    "in",
    "inline",
    "int",
    "is",
    "lambda",
    "let",
    "long",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "mutable",
    "namespace",
    "new",
    "nonlocal",
    "not",
    "operator",
    "or",
    "override",
    "pass",
    "priv",
    "private",
    "protected",
    "pub",
    "public",
    "raise",
    "ref",
    "register",
    "restrict",
    "return",
    "self",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "super",
    "switch",
    "template",
    "this",
    "throw",
    "trait",
    "true",
    "false",
    "try",
    "type",
    "typedef",
    "typename",
    "typeof",
    "union",
    "unsafe",
    "unsigned",
    "unsized",
    "use",
    "using",
    "virtual",
    "void",
    "volatile",
    "where",
    "while",
    "with",
    "yield",
    "result",
    "accumulate",
    "mode",
    "value",
    "options",
    "context_new",
    "context_free",
    "message",
    "memory",
    "abi_version",
];
