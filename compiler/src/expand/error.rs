//! The mistakes in the structure of a program, and their messages.

use crate::base::{Diagnostic, Span};
use crate::expand::build::{MAX_CLAUSES, MAX_NESTING, Usage};
use crate::expand::program::export::TYPES;
use std::borrow::Cow;
use std::rc::Rc;

/// What to know about a name, and what to write instead of it, if that is certain.
pub type Hint = (Cow<'static, str>, Cow<'static, str>);

/// A mistake in the structure of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// A name that nothing defines; the nearest one that something does; what to know about the name.
    Unbound { span: Span, name: Rc<str>, nearest: Option<Rc<str>>, hint: Option<Hint> },
    /// A name that ends in a comma, without it.
    Comma(Span, Rc<str>),
    /// `export`, `import` or `provide` where it has no meaning.
    Misplaced(Span, &'static str),
    /// The same word without brackets.
    Bare(Span, &'static str),
    /// A name that a file does not provide, and the nearest one that it does; without a file, a name that a module says
    /// it provides.
    NotProvided { span: Span, name: Rc<str>, file: Option<Rc<str>>, nearest: Option<Rc<str>> },
    /// A name that is imported from two files.
    ImportedTwice { span: Span, name: Rc<str>, files: [Rc<str>; 2] },
    /// A declaration of arguments in a file that is imported.
    ArgumentsInModule(Span),
    /// Two exports whose names are the same to callers.
    ExportedTwice { first: Span, second: Span, name: Rc<str> },
    /// A name that callers cannot use.
    NotAnExportedName(Span, Rc<str>),
    /// A parameter of an export that is not `(name type)`.
    NotAnExportedParameter(Span),
    /// Something that is no type in an export, and what to write instead.
    NotAnExportedType(Span, Option<&'static str>),
    /// A type of a function of the caller that cannot be.
    FunctionType(Span),
    /// A function of the caller in something else, or a text in a record.
    FunctionWithin(Span),
    /// The type of a record without those of all its fields; where it is defined.
    RecordType { span: Span, definition: Span, name: Rc<str>, fields: Vec<Rc<str>> },
    /// A record whose fields have other types in another export.
    RecordTypes(Span, Rc<str>),
    /// A gradient with respect to something that is no parameter.
    NotAParameterOfExport(Span),
    /// A derivative with respect to a parameter that is not made of real numbers, but of this, too.
    NotReal(Span, &'static str),
    /// A keyword where a value is expected.
    KeywordValue(Span, Rc<str>),
    /// A keyword where a name is bound or defined.
    KeywordBound(Span, Rc<str>),
    /// A form whose parts do not fit: its keyword and its grammar.
    Malformed(Span, &'static str, &'static str),
    /// The same where it is clear what was meant: that, as it is written.
    Miswritten { span: Span, form: &'static str, usage: &'static str, right: String },
    /// A `let` binding that is not `(pattern expression)`.
    MalformedBinding(Span, &'static str),
    /// The only binding of a `let` without brackets around it: the bindings as they are written.
    BareBinding(Span, &'static str, String),
    /// A form without a body.
    EmptyBody(Span, &'static str),
    /// A body that ends in a definition.
    NoValue(Span, Span),
    /// A definition where an expression is expected.
    MisplacedDefine(Span),
    /// The same name twice in one parameter list or `let`.
    DuplicateName { first: Span, second: Span, name: Rc<str> },
    /// The same name defined twice in one program or body.
    DefinedTwice { first: Span, second: Span, name: Rc<str> },
    /// Something that is no name where one is defined.
    NotAName(Span),
    /// Something that is no pattern where a variable is bound; the pattern of a list that may be meant.
    NotAPattern(Span, Option<String>),
    /// A pattern that begins with a name of no pattern: where the name stands, and one that is spelled like it.
    MisspeltPattern { span: Span, name: Span, nearest: Rc<str> },
    /// A pattern with the wrong number of parts, and its grammar.
    MalformedPattern(Span, &'static str),
    /// A call of a function that does not take so many operands.
    WrongNumber { call: Span, name: Option<Rc<str>>, usage: Usage, is_library: bool, operands: usize },
    /// A pattern of a record with the wrong number of parts: where the records are defined, and what fits.
    RecordPattern { span: Span, definition: Span, usage: String },
    /// A definition of records that is not at top level.
    MisplacedRecord(Span),
    /// A name of records that is that of another pattern.
    RecordName(Span, Rc<str>),
    /// A parameter list without brackets.
    NotAParameterList(Span),
    /// A name in quoted data.
    QuotedSymbol(Span, Rc<str>),
    /// `,` outside of a quasi-quotation.
    MisplacedUnquote(Span),
    /// A quasi-quotation in a quasi-quotation.
    NestedQuasiquote(Span),
    /// A dotted list where an expression is expected.
    DottedExpression(Span),
    /// A call whose operator is a constant; that, if it stands alone.
    CallOfConstant(Span, Option<String>),
    /// A value used before it is computed.
    UsedBeforeDefinition { used: Span, definition: Span, name: Rc<str> },
    /// `list` or `vector` where a value is expected.
    ListValue(Span, Rc<str>),
    /// `else` outside of `cond`.
    MisplacedElse(Span),
    /// A clause of `match` that every value fits, and the next one.
    NeverReached { clause: Span, behind: Span },
    /// `else` before other clauses.
    ElseNotLast(Span),
    /// `=>` in `cond`.
    CondArrow(Span),
    /// Expressions nested too deeply.
    TooDeep(Span),
    /// `include` inside another form.
    MisplacedInclude(Span),
    /// An included file that is nowhere, and the paths tried.
    IncludeNotFound { span: Span, name: Rc<str>, tried: Vec<String>, help: &'static str },
    /// A name in an import that is a file here and a dependency of the project.
    FileAndDependency { span: Span, name: Rc<str>, file: String },
    /// A file that is not in the folder of its package.
    OutsidePackage { span: Span, name: Rc<str>, package: String },
    /// Files that include each other.
    IncludeCycle(Span, Vec<String>),
    /// A second declaration of arguments.
    ArgumentsTwice { first: Span, second: Span },
    /// An argument that is not `(name type default "about")`.
    MalformedArgument(Span),
    /// A name that an argument cannot have.
    ArgumentName(Span),
    /// A type that arguments cannot have, and what to write instead.
    ArgumentType(Span, Option<&'static str>),
    /// A limit of an argument that is no number, or that is not well formed.
    ArgumentLimit(Span),
    /// A default of another type: the type, and what is expected.
    ArgumentDefault(Span, &'static str, &'static str),
    /// A file that cannot be read: the include that asks for it, its path, the reason.
    Unreadable(Option<Span>, String, String),
    /// A file that is not text: the first wrong byte, the file's path, the include that asks for it.
    NotText { place: Span, path: String, include: Option<Span> },
}

impl Error {
    /// The message for the user. (One flat table, long because there are many mistakes to make.)
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
            Error::Unbound { span, name, nearest, hint } => unbound(*span, name, nearest, hint.clone()),
            Error::Comma(span, part) => {
                Diagnostic::error("V0201", format!("`{part},` is not defined"), *span, "a comma belongs to this name")
                    .note("nothing but space stands between the parts of a form")
                    .help(format!("leave the comma out: `{part}`"))
                    .fix(*span, &**part)
            }
            Error::Misplaced(span, word) => misplaced(*span, word, "inside another form", "move it to the top level"),
            Error::Bare(span, word) => {
                misplaced(*span, word, "without brackets", "put the word and what belongs to it into brackets")
            }
            Error::NotProvided { span, name, file: Some(file), nearest } => {
                let message = format!("`{name}` is not provided by {file}");
                let message = Diagnostic::error("V0245", message, *span, "not among its names")
                    .note("a file provides what it says with `provide`, or else all that it defines itself");
                meant(message, *span, nearest, || "correct the spelling, or leave the name out".to_string())
            }
            Error::NotProvided { span, name, file: None, nearest } => {
                let message = Diagnostic::error("V0246", format!("`{name}` cannot be provided"), *span, "not defined")
                    .note("a file can provide what it defines and what it imports");
                meant(message, *span, nearest, || format!("add `(define {name} ...)`, or leave the name out"))
            }
            Error::ImportedTwice { span, name, files: [first, second] } => {
                Diagnostic::error("V0247", format!("`{name}` is imported twice"), *span, "two meanings")
                    .note(format!("both {first} and {second} provide it"))
                    .help("give one import a prefix, `(import \"file\" (prefix f:))`, or say which names it brings: `(only a b)`")
            }
            Error::ArgumentsInModule(span) => {
                Diagnostic::error("V0248", "a file that is imported has no arguments", *span, "in an imported file")
                    .note("the program's own file declares what is said on the command line")
                    .help("declare the arguments there, and hand the functions of this file what they need")
            }
            Error::ExportedTwice { first, second, name } => {
                Diagnostic::error("V0240", format!("`{name}` is exported twice"), *second, "second export")
                    .secondary(*first, "first export")
                    .note("callers know a function by its name, in which hyphens are underscores")
                    .help("export one of them under another name: `(export name ((p type) ...) e)`")
            }
            Error::NotAnExportedName(span, name) => Diagnostic::error(
                "V0241",
                format!("`{name}` cannot be the name of anything in a library"),
                *span,
                "no name in C, Python and Rust",
            )
            .note("names of exports, parameters, records and fields consist of letters, digits, hyphens and \
                   underscores")
            .help("choose a name that begins with a letter and is no word of these languages"),
            Error::NotAnExportedParameter(span) => {
                Diagnostic::error("V0242", "expected a parameter with its type", *span, "not `(name type)`")
                    .note(format!("types are {TYPES}"))
                    .help("write for instance `(x real)` or `(v (vector real))`")
            }
            Error::NotAnExportedType(span, meant) => {
                Diagnostic::error("V0243", "expected a type", *span, "not a type of arguments")
                    .note(format!("types are {TYPES}; a tuple has two parts at least"))
                    .help(meant.map_or_else(
                        || "pass a `(vector real)` for a list and for whole numbers, vectors or a matrix for records \
                            in a vector".to_string(),
                        |meant| format!("write {meant}"),
                    ))
            }
            Error::FunctionType(span) => {
                Diagnostic::error("V0243", "expected the type of a function", *span, "not `(function type ... result)`")
                    .note("functions of the caller take `real`, `integer`, `boolean`, `text`, `(vector real)` and \
                           `(matrix real)`, one argument at least, and give `real` or `(vector real)`")
                    .help("write for instance `(function (vector real) real)`, and make what the program needs of that")
            }
            Error::FunctionWithin(span) => {
                Diagnostic::error("V0243", "this is passed by itself", *span, "a part of something else")
                    .note("functions are no parts of others, and texts no fields of records: records are structures of \
                           numbers, booleans and arrays")
                    .help("make it a parameter of its own")
            }
            Error::RecordType { span, definition, name, fields } => {
                let usage = fields.iter().fold(name.to_string(), |usage, field| format!("{usage} type-of-{field}"));
                let message = format!("expected the types of the fields of `{name}`");
                let error = Diagnostic::error("V0243", message, *span, "not a type of arguments")
                    .secondary(*definition, "defined here");
                if fields.is_empty() {
                    return error
                        .note("a record without fields has one value only")
                        .help("leave the parameter out, and make the record in the program");
                }
                error
                    .note("a definition of records does not say what the fields are; the first export that takes \
                           one does")
                    .help(format!("write `({usage})` with a type for each field; further exports name `{name}` alone"))
            }
            Error::RecordTypes(span, name) => {
                Diagnostic::error("V0859", format!("`{name}` has fields of two types"), *span, "other types before")
                    .note("a record is a structure in C, so the types of its fields are the same in a whole library")
                    .help("define a record of another name for the other types")
            }
            Error::NotAParameterOfExport(span) => Diagnostic::error(
                "V0244",
                "a gradient is taken with respect to parameters",
                *span,
                "no parameter, or named before",
            )
            .note("`(export (gradient f x y) ...)` takes it with respect to `x` and `y`, `(export (gradient f) ...)` to all")
            .help("name parameters of this export, each once"),
            Error::NotReal(span, what) => Diagnostic::error(
                "V0244",
                "a derivative is taken with respect to real numbers",
                *span,
                format!("is {what}, or has one in it"),
            )
            .note("integers, booleans, texts and functions do not change little by little; `(export (gradient f) ...)` \
                   leaves out such parameters")
            .help("write `real` for its type, or make it a parameter of its own"),
            Error::KeywordValue(span, name) => {
                Diagnostic::error("V0203", format!("`{name}` is a keyword, not a value"), *span, "keyword")
                    .note("keywords introduce forms; they have no value that could be passed or returned")
                    .help(format!("use it as a form, `({name} ...)`, or wrap that form in a `lambda`"))
            }
            Error::KeywordBound(span, name) => {
                Diagnostic::error("V0204", format!("`{name}` is a keyword and cannot be defined"), *span, "keyword")
                    .note("keywords keep their meaning everywhere; all other names may be redefined")
                    .help(match &**name {
                        "else" => "choose another name; the pattern that every value fits is `_`",
                        _ => "choose another name",
                    })
            }
            Error::DuplicateName { first, second, name } => {
                Diagnostic::error("V0205", format!("`{name}` is bound twice in one list"), *second, "second binding")
                    .secondary(*first, "first binding")
                    .note("the names of one parameter list or `let` are bound at the same time")
                    .help("rename one of them; write `_` for a value that is not needed")
            }
            Error::DefinedTwice { first, second, name } => {
                Diagnostic::error("V0206", format!("`{name}` is defined twice"), *second, "second definition")
                    .secondary(*first, "first definition")
                    .note("a name has one definition per program or body; included files are part of the program")
                    .help("remove or rename one of them")
            }
            Error::NotAName(span) => Diagnostic::error("V0207", "expected a name to define", *span, "not a name")
                .note("a definition is `(define name e)` or `(define (name p ...) e ...)`")
                .help("to take a value apart, use `let` with a pattern"),
            Error::UsedBeforeDefinition { used, definition, name } => {
                Diagnostic::error("V0208", format!("`{name}` is used before its definition"), *used, "needed here")
                    .secondary(*definition, "defined here")
                    .note(
                        "values are computed in the order of the program; only functions may be used before they stand",
                    )
                    .help("move the definition up, before its first use")
            }
            Error::ListValue(span, name) => Diagnostic::error(
                "V0209",
                format!("`{name}` is a form, not a function"),
                *span,
                "not a value",
            )
            .note(format!(
                "functions take one argument, so a function could not tell `({name} (cons 1 2))` from `({name} 1 2)`"
            ))
            .help(format!("wrap it: `(lambda (a b) ({name} a b))`")),
            Error::Malformed(span, form, usage) => {
                Diagnostic::error("V0210", format!("malformed `{form}`"), *span, "does not have the right parts")
                    .note(format!("expected `{usage}`"))
                    .help(malformed_help(form))
            }
            Error::Miswritten { span, form, usage, right } => {
                Diagnostic::error("V0210", format!("malformed `{form}`"), *span, "does not have the right parts")
                    .note(format!("expected `{usage}`"))
                    .help(format!("write `{right}`"))
            }
            Error::BareBinding(span, form, right) => {
                Diagnostic::error("V0211", format!("malformed binding in `{form}`"), *span, "expected `((pattern e) ...)`")
                    .note(format!("bindings are a list of pairs: `({form} ((x 1) (y 2)) e ...)`"))
                    .help(format!("write `({form} {right} ...)`"))
            }
            Error::MalformedBinding(span, form) => {
                Diagnostic::error("V0211", format!("malformed binding in `{form}`"), *span, "expected `(pattern e)`")
                    .note(format!("bindings are a list of pairs: `({form} ((x 1) (y 2)) e ...)`"))
                    .help("check the brackets around the name and its value")
            }
            Error::EmptyBody(span, form) => {
                Diagnostic::error("V0212", format!("this `{form}` has no body"), *span, "expected an expression")
                    .note("the value of a body is that of its last expression, so it needs one")
                    .help("add an expression before the last bracket")
            }
            Error::NoValue(last, body) => {
                Diagnostic::error("V0213", "this body ends in a definition", *last, "expected an expression")
                    .secondary(*body, "the body of this form")
                    .note("the value of a body is that of its last expression")
                    .help("add an expression after the definition")
            }
            Error::MisplacedDefine(span) => {
                Diagnostic::error("V0214", "a definition may not stand here", *span, "expected an expression")
                    .note("definitions stand at the top of a file or directly in the body of a function or `let`")
                    .help("use `let`, or move the definition to the start of the body")
            }
            Error::MisspeltPattern { span, name, nearest } => {
                not_a_pattern(*span).help(format!("did you mean `{nearest}`?")).fix(*name, &**nearest)
            }
            Error::NotAPattern(span, list) => not_a_pattern(*span)
                .help(list.as_ref().map_or_else(
                    || "bind a name here and test its value in the body".to_string(),
                    |list| format!("write `{list}` for a list of that length"),
                )),
            Error::MalformedPattern(span, usage) => {
                Diagnostic::error("V0216", "malformed pattern", *span, "wrong number of parts")
                    .note(format!("expected `{usage}`"))
                    .help("write `_` for parts that are not needed")
            }
            Error::RecordPattern { span, definition, usage } => {
                Diagnostic::error("V0216", "malformed pattern", *span, "wrong number of parts")
                    .secondary(*definition, "defined here")
                    .note(format!("expected a part for each field: `{usage}`"))
                    .help("write `_` for parts that are not needed")
            }
            Error::MisplacedRecord(span) => {
                Diagnostic::error("V0260", "`define-record` may not stand here", *span, "inside another form")
                    .note("a definition of records defines functions and a pattern for the whole file")
                    .help("move it to the top level")
            }
            Error::RecordName(span, name) => {
                Diagnostic::error("V0261", format!("records cannot be called `{name}`"), *span, "taken")
                    .note(format!("the name of records is also a pattern, and `({name} ...)` is one already"))
                    .help("choose another name")
            }
            Error::WrongNumber { call, name, usage, is_library, operands } => {
                wrong_number(*call, name.as_deref(), usage, *is_library, *operands)
            }
            Error::NotAParameterList(span) => {
                Diagnostic::error("V0218", "expected a parameter list", *span, "not a list")
                    .note("a function is `(lambda (p ...) e ...)`")
                    .help("put brackets around the parameters; a name without brackets takes all operands as one tuple")
            }
            Error::QuotedSymbol(span, name) => Diagnostic::error(
                "V0219",
                format!("`{name}` cannot be quoted"),
                *span,
                "a name, not a value",
            )
            .note("the language has no symbols: quoted data are numbers, booleans, strings, `()` and lists of them")
            .help("use numbers or strings to tell cases apart, or `list` to compute the elements"),
            Error::MisplacedUnquote(span) => {
                Diagnostic::error("V0220", "an unquote stands outside of a quasi-quotation", *span, "unexpected `,`")
                    .note("`,e` inserts the value of `e` into a quasi-quotation such as `` `(1 ,e)``")
                    .help("remove the comma, or put a backquote before the data around it")
            }
            Error::NestedQuasiquote(span) => {
                Diagnostic::error("V0221", "quasi-quotations do not nest", *span, "second backquote")
                    .note("the inner one would be data, and the language has no symbols to represent it")
                    .help("remove the inner backquote; one before the whole datum suffices")
            }
            Error::DottedExpression(span) => {
                Diagnostic::error("V0222", "a dot may not stand here", *span, "unexpected dot")
                    .note("only a call of a function may end in a tuple: `(f a . tuple)`")
                    .help("to build a pair, write `(cons a b)`")
            }
            Error::CallOfConstant(span, alone) => {
                Diagnostic::error("V0223", "a constant cannot be called", *span, "not a function")
                    .note("the first element of a bracket is the function that is called with the others")
                    .help(alone.as_ref().map_or_else(
                        || "write `'(...)` or `(list ...)` for a list, `#(...)` or `(vector ...)` for a vector".to_string(),
                        |alone| format!("leave the brackets out: `{alone}`"),
                    ))
            }
            Error::MisplacedElse(span) => {
                Diagnostic::error("V0224", "`else` stands outside of `cond`", *span, "unexpected `else`")
                    .note("`else` is the last clause of a `cond`; the branches of an `if` have no keyword")
                    .help("write `(if c a b)`, or `(cond (c a) (else b))`")
            }
            Error::ElseNotLast(span) => {
                Diagnostic::error("V0225", "`else` must be the last clause", *span, "more clauses follow")
                    .note("clauses are tried in order, so none after `else` could ever be reached")
                    .help("move this clause to the end")
            }
            Error::NeverReached { clause, behind } => {
                Diagnostic::error("V0251", "this clause is never reached", *behind, "behind one that fits everything")
                    .secondary(*clause, "every value fits this pattern")
                    .note("clauses of `match` are tried in order")
                    .help("move the clause that fits everything to the end")
            }
            Error::CondArrow(span) => {
                Diagnostic::error("V0226", "`=>` is not part of the language", *span, "unexpected `=>`")
                    .note("a clause of `cond` is `(c e ...)`")
                    .help("name the value with `let` and call the function with it")
            }
            Error::TooDeep(span) => Diagnostic::error("V0227", "expressions are nested too deeply", *span, "too deep")
                .note(format!(
                    "at most {MAX_NESTING} may nest, and {MAX_CLAUSES} clauses of `cond` and operands of `and` and `or`"
                ))
                .help("split the expression into functions"),
            Error::IncludeNotFound { span, name, tried, help } => {
                let mut message = Diagnostic::error(
                    "V0229",
                    format!("cannot find the file `{name}`"),
                    *span,
                    "not found",
                );
                for path in tried {
                    message = message.note(format!("there is no file {path}"));
                }
                message.help(*help)
            }
            Error::FileAndDependency { span, name, file } => {
                let message = format!("`{name}` is a file and a dependency");
                Diagnostic::error("V0507", message, *span, "which one?")
                    .note(format!("there is {file}, and a package in vlad.toml whose name this begins with"))
                    .help(format!("write `\"./{name}\"` if the file is meant; otherwise give the file another name"))
            }
            Error::OutsidePackage { span, name, package } => {
                let message = format!("`{name}` is outside the package `{package}`");
                Diagnostic::error("V0508", message, *span, "leads out of its folder")
                    .note("a package consists of the files in its folder")
                    .help("name a file there")
            }
            Error::IncludeCycle(span, files) => {
                Diagnostic::error("V0230", "this file leads back to itself", *span, "closes the cycle")
                    .note(format!("the cycle is {}", files.join(" -> ")))
                    .help("move what both files need to a third one")
            }
            Error::Unreadable(span, path, reason) => at(*span, "V0231", format!("cannot read {path}"))
                .note(reason.clone())
                .help("check the path and the permissions"),
            Error::NotText { place, path, include } => {
                let message = format!("{path} is not a text file");
                let message = Diagnostic::error("V0232", message, *place, "does not belong to a character")
                    .note("programs are written in UTF-8")
                    .help("convert the file to UTF-8");
                include.iter().fold(message, |message, include| message.secondary(*include, "included here"))
            }
            Error::MisplacedInclude(span) => misplaced_include(*span),
            Error::ArgumentsTwice { first, second } => {
                Diagnostic::error("V0233", "a program declares its arguments once", *second, "second declaration")
                    .secondary(*first, "first declaration")
                    .note("included files are part of the program")
                    .help("put all arguments into one declaration")
            }
            Error::MalformedArgument(span) => {
                Diagnostic::error("V0234", "malformed argument", *span, "does not have the right parts")
                    .note("an argument is `(name type default \"about\")`; without a default it is required")
                    .help("write, for instance, `(rate real 0.1 \"step size\")`")
            }
            Error::ArgumentName(span) => Diagnostic::error(
                "V0235",
                "an argument cannot have this name",
                *span,
                "not a name for an argument",
            )
            .note("the name begins with a letter and goes on with letters, digits, `-`, `_` and `?`; `help` is taken")
            .help("choose another name: it is what the program calls the value, and `--name` on the command line"),
            Error::ArgumentType(span, meant) => {
                Diagnostic::error("V0236", "an argument cannot have this type", *span, "not a type of arguments")
                    .note(
                        "the types are `real`, `integer`, `boolean`, `vector`, `matrix`, `(choice \"a\" \"b\")`, and \
                         `(matrix (columns \"a\" \"b\") (missing drop))` or `nan` or `error` there",
                    )
                    .help(meant.map_or_else(
                        || "an argument is `(name type default \"about\")`".to_string(),
                        |meant| format!("write {meant}"),
                    ))
            }
            Error::ArgumentLimit(span) => {
                Diagnostic::error("V0238", "this is no limit of the argument", *span, "not a limit")
                    .note("limits are `(at-least x)`, `(at-most x)`, `(more-than x)` and `(less-than x)`, with a number")
                    .help("only arguments of the types `real` and `integer` have limits")
            }
            Error::ArgumentDefault(span, kind, expected) => Diagnostic::error(
                "V0237",
                "this default does not fit the argument",
                *span,
                format!("not of type `{kind}`"),
            )
            .note(format!("expected {expected}"))
            .help("write the value itself: defaults are not computed"),
        }
    }
}

fn wrong_number(call: Span, name: Option<&str>, usage: &Usage, is_library: bool, operands: usize) -> Diagnostic {
    let Usage { arity, span: definition, call: right } = usage;
    let counted = |count: usize| match count {
        0 => "no arguments".to_string(),
        1 => "one argument".to_string(),
        _ => format!("{count} arguments"),
    };
    let word = name.unwrap_or("f");
    let name = name.map_or("this function".to_string(), |name| format!("`{name}`"));
    let takes = format!("{}{}", counted(arity.named), if arity.rest { " or more" } else { "" });
    let help = match (arity.named, operands) {
        _ if arity.curried && operands > arity.named => {
            format!("its value is a function that takes the others: `(({word} ...) ...)`")
        }
        (1, 2..) if !is_library => "make a pair or a list of them, or give the function more parameters: `. rest` \
                                    takes all that are left"
            .to_string(),
        (0 | 1, _) => format!("call it so: `{right}`"),
        _ => format!("call it so: `{right}`; one tuple for all of them is fine, too: `({word} tuple)`"),
    };
    Diagnostic::error("V0217", format!("{name} takes {takes}"), call, format!("called with {}", counted(operands)))
        .secondary(*definition, "defined here")
        .note("a call has as many operands as the function has parameters")
        .help(help)
}

fn misplaced(span: Span, word: &str, label: &str, help: &str) -> Diagnostic {
    let (code, note) = match word {
        "export" => ("V0202", "`(export name ((p type) ...) e ...)` offers a function to the callers of a library"),
        "import" => ("V0249", "`(import \"file\")` gives the names that another file provides to this one"),
        _ => ("V0249", "`(provide name ...)` says which names other files may import"),
    };
    Diagnostic::error(code, format!("`{word}` may not stand here"), span, label).note(note).help(help)
}

fn misplaced_include(span: Span) -> Diagnostic {
    Diagnostic::error("V0228", "`include` may not stand here", span, "inside another form")
        .note("an include splices definitions and expressions into the top level of a file")
        .help("move it to the top level")
}

/// A message about a name, with the one that may have been meant, or other help.
fn meant(message: Diagnostic, span: Span, nearest: &Option<Rc<str>>, other: impl FnOnce() -> String) -> Diagnostic {
    match nearest {
        Some(nearest) => message.help(format!("did you mean `{nearest}`?")).fix(span, &**nearest),
        None => message.help(other()),
    }
}

fn not_a_pattern(span: Span) -> Diagnostic {
    Diagnostic::error("V0215", "expected a pattern", span, "not a pattern").note(
        "patterns are names, `_`, `()`, `(cons p q)`, `(list p ...)`, `(cons* p ... q)`, `(vector p ...)`, `(*j p)`, \
         `(bundle p q)`, and `(name p ...)` for a record",
    )
}

/// A message at the include that asks for a file, or about the program's own file.
fn at(span: Option<Span>, code: &'static str, message: String) -> Diagnostic {
    match span {
        Some(span) => Diagnostic::error(code, message, span, "included here"),
        None => Diagnostic::error_without_place(code, message),
    }
}

fn unbound(span: Span, name: &str, nearest: &Option<Rc<str>>, hint: Option<Hint>) -> Diagnostic {
    let message = Diagnostic::error("V0201", format!("`{name}` is not defined"), span, "unknown name");
    let looks_like_number = name.trim_start_matches(['+', '-', '.']).starts_with(|c: char| c.is_ascii_digit());
    let message = match looks_like_number {
        true => message.note("this is read as a name, because it is not a number of a known form"),
        false => message.note("no definition, parameter or library function has this name"),
    };
    match hint {
        Some((help, instead)) if instead.is_empty() => message.help(help),
        Some((help, instead)) => message.help(help).fix(span, instead),
        None => meant(message, span, nearest, || format!("add `(define {name} ...)`, or correct the spelling")),
    }
}

fn malformed_help(form: &str) -> &'static str {
    match form {
        "if" => "an `if` has two branches: use `when` if there is one, `begin` to put several expressions into one",
        "define" => "give exactly one value, or write the parameters in the brackets of the name",
        "error" => "give the value that is at fault as second operand, or `()`",
        "export" => "give a name and a list of parameters: `(export f ((x real)))` exports the function `f`",
        _ => "check the brackets and the number of parts",
    }
}
