//! Records in C: structures, and functions of the header that take and give them.
//!
//! ```c
//! typedef struct {
//!     double *weights;
//!     size_t weights_length;
//!     double bias;
//! } NAME_model;
//!
//! static inline int NAME_f_gradient(NAME_context *context, NAME_model m, int mode, double *value,
//!                                   NAME_model *m_gradient) {
//!     return NAME_f_gradient_by_fields(context, m.weights, m.weights_length, m.bias, mode, value, ...);
//! }
//! ```
//!
//! One structure serves for arguments, results and gradients, so that a result is an argument again, and a gradient
//! a record like its argument. The library itself knows fields only: which registers a structure comes in is for the C
//! compiler to know.

use super::{Parameter, Parameters, Passing};
use crate::core::interface::{Function, Record, Type};
use std::fmt::Write;

/// What the header says about records.
pub const ABOUT: &str = "
 *
 * Records are structures, which the functions of this header pass on field by field. Arrays in them are the caller's,
 * too. Of a record that gets a result, sizes say before the call how many numbers there is room for, and afterwards how
 * many there are. Of one that gets a gradient, sizes are those of the argument.";

/// The structure for a kind of records.
pub fn structure(library: &str, record: &Record) -> String {
    let name = record.name_in_c();
    let mut members = String::new();
    for (field, ty) in Type::Record(record.clone().into()).parts() {
        for (place, ty) in ty.pieces() {
            let name = place.iter().fold(field.clone(), |name, part| format!("{name}_{part}"));
            let member = match ty {
                Type::Record(record) => format!("{library}_{} {name}", record.name_in_c()),
                Type::Integer => format!("int64_t {name}"),
                Type::Boolean => format!("bool {name}"),
                Type::Vector => format!("double *{name};\n    size_t {name}_length"),
                Type::Matrix => format!("double *{name};\n    size_t {name}_rows;\n    size_t {name}_columns"),
                _ => format!("double {name}"),
            };
            let _ = writeln!(members, "    {member};");
        }
    }
    format!("\n/* The record {}. */\ntypedef struct {{\n{members}}} {library}_{name};\n", record.name)
}

/// The numbers and arrays in a record, each as C names it behind the name of the record and a dot.
fn members(ty: &Type) -> Vec<(String, Type)> {
    let mut members = Vec::new();
    for (name, part) in ty.parts() {
        for (place, ty) in part.pieces() {
            let name = place.iter().fold(name.clone(), |name, part| format!("{name}_{part}"));
            match ty {
                Type::Record(_) => {
                    members.extend(self::members(ty).into_iter().map(|(inner, ty)| (format!("{name}.{inner}"), ty)));
                }
                ty => members.push((name, ty.clone())),
            }
        }
    }
    members
}

/// The sizes of an array, as C names them behind its name.
fn sizes(ty: &Type) -> &'static [&'static str] {
    match ty {
        Type::Vector => &["_length"],
        Type::Matrix => &["_rows", "_columns"],
        _ => &[],
    }
}

/// The parameters of a function of the header, and its body.
pub fn function(library: &str, function: &Function) -> (Vec<Parameter>, String) {
    let mut wrapper =
        Wrapper { library, parameters: Parameters::default(), passed: Vec::new(), mode: 0, fits: Vec::new() };
    wrapper.pass(function, Type::pieces);
    if !wrapper.fits.is_empty() {
        // A mode that the run time knows the reason of.
        wrapper.passed[wrapper.mode] = "fits ? mode : 3".to_string();
    }
    let mut body = String::new();
    if !wrapper.fits.is_empty() {
        let _ = writeln!(body, "    int fits = {};", wrapper.fits.join("\n        && "));
    }
    let passed: String = wrapper.passed.iter().map(|passed| format!(",\n        {passed}")).collect();
    let _ = writeln!(body, "    return {library}_{}(context{passed});", function.symbol());
    (wrapper.parameters.0, body)
}

/// A function of the header in the making.
struct Wrapper<'a> {
    library: &'a str,
    parameters: Parameters,
    /// What it passes on.
    passed: Vec<String>,
    /// Where among this the mode is, if there is one.
    mode: usize,
    /// Conditions that hold if records that get gradients have the sizes of their arguments.
    fits: Vec<String>,
}

impl Wrapper<'_> {
    /// Adds parameters that are passed on as they are.
    fn own(&mut self, add: impl FnOnce(&mut Parameters)) {
        let first = self.parameters.0.len();
        add(&mut self.parameters);
        self.passed.extend(self.parameters.0[first..].iter().map(|parameter| parameter.name.clone()));
    }

    /// Adds a parameter that is a record, or the address of one.
    fn record(&mut self, record: &Record, name: &str, ending: &str, about: &str) {
        let ty = format!("{}_{}{ending}", self.library, record.name_in_c());
        self.parameters.add(&ty, name, about);
    }
}

impl Passing for Wrapper<'_> {
    fn argument(&mut self, name: &str, ty: &Type) {
        let Type::Record(record) = ty else { return self.own(|parameters| parameters.argument(name, ty)) };
        self.record(record, name, " ", "a record");
        for (member, ty) in members(ty) {
            self.passed.push(format!("{name}.{member}"));
            self.passed.extend(sizes(&ty).iter().map(|size| format!("{name}.{member}{size}")));
        }
    }

    fn result(&mut self, name: &str, ty: &Type) {
        let Type::Record(record) = ty else { return self.own(|parameters| parameters.result(name, ty)) };
        self.record(record, name, " *", "gets the result, unless it is NULL");
        for (member, ty) in members(ty) {
            let place = format!("{name}->{member}");
            let sizes = sizes(&ty);
            if sizes.is_empty() {
                self.passed.push(format!("{name} ? &{place} : NULL"));
                continue;
            }
            let room: Vec<String> = sizes.iter().map(|size| format!("{place}{size}")).collect();
            self.passed.extend([format!("{name} ? {place} : NULL"), format!("{name} ? {} : 0", room.join(" * "))]);
            self.passed.extend(sizes.iter().map(|size| format!("{name} ? &{place}{size} : NULL")));
        }
    }

    fn mode(&mut self) {
        self.mode = self.passed.len();
        self.own(Parameters::mode);
    }

    fn gradient(&mut self, of: &str, ty: &Type) {
        let Type::Record(record) = ty else { return self.own(|parameters| parameters.gradient(of, ty)) };
        let name = format!("{of}_gradient");
        self.record(
            record,
            &name,
            " *",
            "gets the gradient, unless it is NULL; arrays in it have the sizes of the argument",
        );
        for (member, ty) in members(ty) {
            let place = format!("{name}->{member}");
            let sizes = sizes(&ty);
            let address = if sizes.is_empty() { "&" } else { "" };
            self.passed.push(format!("{name} ? {address}{place} : NULL"));
            if !sizes.is_empty() {
                let same = sizes.iter().map(|size| format!("{place}{size} == {of}.{member}{size}"));
                let same = same.collect::<Vec<_>>().join(" && ");
                self.fits.push(format!("({name} == NULL || {place} == NULL || ({same}))"));
            }
        }
    }
}
