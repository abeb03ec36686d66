//! What a definition of records defines, by name.
//!
//! ```text
//! (define-record model weights bias)     model               (model weights bias)
//!                                        model?              (model? x)
//!                                        model-weights       (model-weights model)
//!                                        model-with-weights  (model-with-weights model weights)
//!                                        ...
//! ```
//!
//! Tools ask for it, too, and want names of definitions that are wrong in other ways.

use crate::base::Span;
use crate::syntax::Datum;
use std::rc::Rc;

/// The word that introduces definitions of records.
pub const DEFINE_RECORD: &str = "define-record";

/// A definition of records as written.
pub struct Form<'a> {
    /// Where it stands.
    pub span: Span,
    /// The name of the records.
    pub name: &'a Datum,
    /// The fields.
    pub fields: &'a [Datum],
}

/// What one of the names does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Makes a record.
    Constructor,
    /// Tells whether a value is one.
    Predicate,
    /// Gives the field with that number.
    Accessor(usize),
    /// Gives the record with another value in that field.
    Update(usize),
}

/// A name that the definition defines.
pub struct Defined {
    /// The name.
    pub name: Rc<str>,
    /// Where the name of the records stands, or that of the field.
    pub span: Span,
    /// What it does.
    pub role: Role,
    /// A call.
    pub call: String,
}

/// The definition that a datum is, if it is one whose parts are names.
pub fn form(datum: &Datum) -> Option<Form<'_>> {
    let (name, fields) = datum.behind(DEFINE_RECORD)?.split_first()?;
    let is_well_formed = name.symbol().is_some() && fields.iter().all(|field| field.symbol().is_some());
    is_well_formed.then_some(Form { span: datum.span, name, fields })
}

impl Form<'_> {
    /// The names, that of the constructor first.
    pub fn defined(&self) -> Vec<Defined> {
        let record = name_of(self.name);
        let fields = || self.fields.iter().map(name_of);
        let every: String = fields().map(|field| format!(" {field}")).collect();
        let one = |name: String, span: Span, role: Role, operands: String| {
            let call = format!("({name}{operands})");
            Defined { name: Rc::from(name), span, role, call }
        };
        let span = self.name.span;
        let mut defined = vec![
            one(record.to_string(), span, Role::Constructor, every),
            one(format!("{record}?"), span, Role::Predicate, " x".to_string()),
        ];
        for (index, (field, datum)) in fields().zip(self.fields).enumerate() {
            let (access, update) = (Role::Accessor(index), Role::Update(index));
            defined.push(one(format!("{record}-{field}"), datum.span, access, format!(" {record}")));
            defined.push(one(format!("{record}-with-{field}"), datum.span, update, format!(" {record} {field}")));
        }
        defined
    }
}

fn name_of(datum: &Datum) -> &Rc<str> {
    datum.symbol().expect("the parts of the form are names")
}
