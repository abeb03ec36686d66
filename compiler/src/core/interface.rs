//! What the callers of a library know of its functions: names, and the types of what they pass and get.

use crate::core::ir::RecordId;
use std::rc::Rc;

/// The first number that a call of a library passes, if it is to compute the values of all globals,
pub const INITIALISE: f64 = 0.0;

/// and if it is to call a function, whose number is next.
pub const CALL: f64 = 1.0;

/// What the end of the name says of a function that computes a gradient.
pub const GRADIENT: &str = "-gradient";

/// A type of arguments and results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number.
    Real,
    /// A whole number; of arguments only.
    Integer,
    /// A truth value.
    Boolean,
    /// A text; not of fields of records.
    Text,
    /// A vector of numbers.
    Vector,
    /// A vector of vectors of one length.
    Matrix,
    /// A pair of pairs: the second part of each but the last is the next.
    Tuple(Vec<Type>),
    /// A record.
    Record(Rc<Record>),
    /// A function of the caller; of arguments only, and no part of others.
    Function(Rc<Signature>),
}

/// What a function of the caller takes and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Its arguments: numbers, truth values, texts, vectors and matrices; one at least.
    pub arguments: Vec<Type>,
    /// Its value: a number or a vector.
    pub result: Type,
}

/// A kind of records, and the types of their fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Which definition they have.
    pub kind: RecordId,
    /// Their name in the program.
    pub name: Rc<str>,
    /// Their fields; one at least.
    pub fields: Vec<Parameter>,
}

/// A type within another one, and where: for each tuple and record around it, the name in it.
pub type Placed<'t> = (Vec<String>, &'t Type);

/// An argument, or a field of a record.
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
    /// If it computes another derivative: the position of the parameter with respect to which.
    pub derivative_at: Option<usize>,
    /// The type of its value, once that is known.
    pub result: Option<Type>,
}

impl Record {
    /// Its name in C, behind that of the library.
    pub fn name_in_c(&self) -> String {
        self.name.replace('-', "_")
    }
}

impl Function {
    /// Its name in Rust and Python, and behind that of the library in C.
    pub fn identifier(&self) -> String {
        identifier(&self.name).unwrap_or_default()
    }

    /// The name of the function that it computes the gradient of.
    pub fn differentiated(&self) -> &str {
        self.name.trim_end_matches(GRADIENT)
    }

    /// The name of its code behind that of the library. If records are among its arguments and results, what has its
    /// name in C is a function of the header, which passes them field by field.
    pub fn symbol(&self) -> String {
        let types = self.parameters.iter().map(|parameter| &parameter.ty).chain(&self.result);
        let has_records = types.flat_map(Type::records).next().is_some();
        self.identifier() + if has_records { "_by_fields" } else { "" }
    }
}

impl Type {
    /// The types that values of the type consist of, each with its name there: the position in a tuple, the field of
    /// a record. Empty for numbers and arrays.
    pub fn parts(&self) -> Vec<(String, &Type)> {
        match self {
            Type::Tuple(parts) => parts.iter().enumerate().map(|(at, part)| (at.to_string(), part)).collect(),
            Type::Record(record) => {
                record.fields.iter().map(|field| (field_name(&field.name).unwrap_or_default(), &field.ty)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The numbers and arrays that values of the type consist of.
    pub fn leaves(&self) -> Vec<Placed<'_>> {
        self.inner(|ty| !matches!(ty, Type::Tuple(_) | Type::Record(_)))
    }

    /// The numbers, arrays and records that values of the type consist of: tuples are taken apart.
    pub fn pieces(&self) -> Vec<Placed<'_>> {
        self.inner(|ty| !matches!(ty, Type::Tuple(_)))
    }

    fn inner(&self, is_wanted: fn(&Type) -> bool) -> Vec<Placed<'_>> {
        if is_wanted(self) {
            return vec![(Vec::new(), self)];
        }
        let inner_of = |(name, part): (String, _)| {
            let inner = Type::inner(part, is_wanted).into_iter();
            inner.map(move |(place, ty)| ([vec![name.clone()], place].concat(), ty))
        };
        self.parts().into_iter().flat_map(inner_of).collect()
    }

    /// The records that values of the type consist of: those in others before these.
    pub fn records(&self) -> Vec<Rc<Record>> {
        let mut records: Vec<Rc<Record>> = self.parts().into_iter().flat_map(|(_, part)| part.records()).collect();
        if let Type::Record(record) = self {
            records.push(record.clone());
        }
        records
    }

    /// The function that it is.
    pub fn signature(&self) -> Option<&Signature> {
        if let Type::Function(signature) = self { Some(signature) } else { None }
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        matches!(self, Type::Vector | Type::Matrix)
    }
}

/// The name of something in C, Python and Rust: hyphens become underscores. `None` if it cannot be one there.
pub fn identifier(name: &str) -> Option<String> {
    field_name(name).filter(|name| !TAKEN.contains(&&**name) && !TAKEN_IN_C.contains(&&**name))
}

/// The name of a field of a record, which may be one that other things have.
pub fn field_name(name: &str) -> Option<String> {
    spelled(name).filter(|name| !RESERVED.contains(&&**name))
}

/// The name of a kind of records as Python and Rust write names of types: `learning-state` is `LearningState`.
pub fn type_name(name: &str) -> Option<String> {
    let words = spelled(name).filter(|name| !TAKEN_IN_C.contains(&&**name))?;
    let capitalised = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    };
    let name: String = words.split('_').map(capitalised).collect();
    identifier(&name).filter(|name| !TAKEN_TYPES.contains(&&**name))
}

fn spelled(name: &str) -> Option<String> {
    let name = name.replace('-', "_");
    let mut characters = name.chars();
    let begins = characters.next().is_some_and(|c| c.is_ascii_alphabetic());
    (begins && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')).then_some(name)
}

/// Names that the generated modules have for themselves.
const TAKEN: &[&str] = &["Context", "Error", "Function", "accumulate", "bounds", "mode", "out", "result", "value"];

/// What libraries have for themselves, behind their names.
const TAKEN_IN_C: &[&str] = &["abi_version", "context", "context_free", "context_new", "memory", "message", "options"];

/// Names of types that the generated modules have for themselves, and types of Rust that its module uses.
const TAKEN_TYPES: &[&str] = &[
    "CStr", "CString", "Callback", "Drop", "FnMut", "Matrix", "Mode", "NonNull", "Opaque", "Option", "Options",
    "Result", "Send", "String", "Vec",
];

/// Words that are no names in C, C++, Python or Rust, and names that C's headers and compilers define as macros.
const RESERVED: &[&str] = &[
    "BUFSIZ",
    "EOF",
    "Err",
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
];
