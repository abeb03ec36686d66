//! The C header of a library.
//!
//! ```c
//! int NAME_f(NAME_context *context, double x, const double *v, size_t v_length, double *result);
//! int NAME_f_gradient(NAME_context *context, double x, const double *v, size_t v_length, int mode, double *value,
//!                     double *x_gradient, double *v_gradient);
//! ```
//!
//! A function that is passed is the address of one and its data, see [`callback`].
//!
//! The order of parameters is that of [`crate::codegen::library`]'s calls.

mod with_records;

use super::Interface;
use crate::core::interface::{Function, Placed, Signature, Type, identifier};

/// What callers and libraries agree on, as in the run time.
pub const ABI_VERSION: u32 = 1;

/// The text of the header.
pub fn text(interface: &Interface) -> String {
    let name = &interface.name;
    let upper = name.to_uppercase();
    let about_records = if interface.records().is_empty() { "" } else { with_records::ABOUT };
    let about_callbacks = if interface.signatures().is_empty() { "" } else { ABOUT_CALLBACKS };
    let mut text = TEMPLATE
        .replace("@RECORDS@", about_records)
        .replace("@CALLBACKS@", about_callbacks)
        .replace("@NAME@", &upper)
        .replace("@name@", name)
        .replace("@ABI@", &ABI_VERSION.to_string());
    for record in interface.records() {
        text += &with_records::structure(name, &record);
    }
    for (function, about) in &interface.functions {
        text += &declaration(name, function, about);
    }
    text + &END.replace("@NAME@", &upper)
}

/// A parameter of a function of C, and what it is for.
pub struct Parameter {
    /// Its type, with a space behind it if it does not end in an asterisk.
    pub ty: String,
    /// Its name.
    pub name: String,
    /// What stands behind its name: the parameters, if it is a function.
    pub after: String,
    /// What it is for.
    pub about: String,
}

/// The name in C of a part of something: `p_0_1` is the second part of the first part of `p`, `m_bias` a field of `m`.
pub fn part_name(name: &str, place: &[String]) -> String {
    place.iter().fold(identifier(name).unwrap_or_default(), |name, position| format!("{name}_{position}"))
}

/// The parameters of the code of a function, behind the context. Tuples and records are passed part by part.
pub fn parameters(function: &Function) -> Vec<Parameter> {
    let mut parameters = Parameters::default();
    parameters.pass(function, Type::leaves);
    parameters.0
}

/// A row of parameters in the making.
trait Passing {
    fn argument(&mut self, name: &str, ty: &Type);
    fn result(&mut self, name: &str, ty: &Type);
    fn mode(&mut self);
    fn gradient(&mut self, of: &str, ty: &Type);

    /// Passes what a function takes and gives, where `parts` says what of values is passed at a time.
    fn pass(&mut self, function: &Function, parts: fn(&Type) -> Vec<Placed<'_>>) {
        for parameter in &function.parameters {
            for (place, ty) in parts(&parameter.ty) {
                self.argument(&part_name(&parameter.name, &place), ty);
            }
        }
        match &function.gradient {
            None => {
                for (place, ty) in function.result.iter().flat_map(parts) {
                    self.result(&result_name(&place), ty);
                }
            }
            Some(positions) => {
                self.mode();
                for parameter in positions.iter().map(|position| &function.parameters[*position]) {
                    for (place, ty) in parts(&parameter.ty) {
                        self.gradient(&part_name(&parameter.name, &place), ty);
                    }
                }
            }
        }
    }
}

/// The parameters of a function that is passed: what it takes, and where to what it gives.
///
/// ```c
/// int f(void *data, const double *x, size_t x_length, double *value, double *gradient);
/// int f(void *data, double x1, double x2, double *value, size_t room, size_t *length, double *jacobian);
/// ```
pub fn callback(signature: &Signature) -> Vec<Parameter> {
    let mut parameters = Parameters::default();
    parameters.add("void *", "data", "");
    for (position, ty) in signature.arguments.iter().enumerate() {
        let name = if signature.arguments.len() == 1 { "x".to_string() } else { format!("x{}", position + 1) };
        parameters.argument(&name, ty);
    }
    parameters.add("double *", "value", "");
    if signature.result == Type::Real {
        parameters.add("double *", "gradient", "");
    } else {
        parameters.add("size_t ", "room", "");
        parameters.add("size_t *", "length", "");
        parameters.add("double *", "jacobian", "");
    }
    parameters.0
}

fn result_name(place: &[String]) -> String {
    place.iter().fold("result".to_string(), |name, position| format!("{name}_{position}"))
}

/// Parameters of C in the making.
#[derive(Default)]
struct Parameters(Vec<Parameter>);

impl Parameters {
    fn add(&mut self, ty: &str, name: &str, about: &str) {
        self.0.push(Parameter { ty: ty.into(), name: name.into(), after: String::new(), about: about.into() });
    }

    fn callback(&mut self, name: &str, signature: &Signature) {
        let list = callback(signature).into_iter().map(|Parameter { ty, name, .. }| format!("{ty}{name}"));
        let after = format!(")({})", list.collect::<Vec<_>>().join(", "));
        let about = if signature.result == Type::Real {
            "a function that gives a number"
        } else {
            "a function that gives a vector"
        };
        self.0.push(Parameter { ty: "int (*".into(), name: name.into(), after, about: about.into() });
        self.add("void *", &format!("{name}_data"), "what the function is handed");
    }
}

impl Passing for Parameters {
    fn argument(&mut self, name: &str, ty: &Type) {
        match ty {
            Type::Integer => self.add("int64_t ", name, "a whole number"),
            Type::Boolean => self.add("bool ", name, "true or false"),
            Type::Text => self.add("const char *", name, "a text"),
            Type::Vector => {
                self.add("const double *", name, "its elements");
                self.add("size_t ", &format!("{name}_length"), "how many");
            }
            Type::Matrix => {
                self.add("const double *", name, "its elements, row by row");
                self.add("size_t ", &format!("{name}_rows"), "how many rows");
                self.add("size_t ", &format!("{name}_columns"), "how many elements each row has");
            }
            Type::Function(signature) => self.callback(name, signature),
            _ => self.add("double ", name, "a number"),
        }
    }

    fn result(&mut self, name: &str, ty: &Type) {
        let of = match ty {
            Type::Boolean => "bool *",
            Type::Text => "char *",
            _ => "double *",
        };
        self.add(of, name, "gets the result, unless it is NULL");
        if ty.is_array() {
            self.add("size_t ", &format!("{name}_room"), "for so many numbers there is room");
        }
        match ty {
            Type::Text => {
                self.add("size_t ", &format!("{name}_room"), "for so many bytes there is room, with a zero at the end");
                self.add("size_t *", &format!("{name}_length"), "gets the length without that, unless it is NULL");
            }
            Type::Vector => self.add("size_t *", &format!("{name}_length"), "gets the length, unless it is NULL"),
            Type::Matrix => {
                self.add("size_t *", &format!("{name}_rows"), "gets the number of rows, unless it is NULL");
                self.add("size_t *", &format!("{name}_columns"), "gets the number of columns, unless it is NULL");
            }
            _ => {}
        }
    }

    fn mode(&mut self) {
        self.add("int ", "mode", "whether gradients replace what is there or are added to it");
        self.add("double *", "value", "gets the value of the function, unless it is NULL");
    }

    fn gradient(&mut self, name: &str, ty: &Type) {
        let about = match ty {
            Type::Real => "gets the derivative with respect to it, unless it is NULL",
            _ => "gets as many numbers as the argument has, unless it is NULL",
        };
        self.add("double *", &format!("{name}_gradient"), about);
    }
}

fn declaration(library: &str, function: &Function, about: &str) -> String {
    let mut comment = String::new();
    let sentence = match (&function.gradient, about) {
        (None, "") => format!("The function {}.", function.name),
        (None, about) => about.to_string(),
        (Some(_), about) => {
            let of = function.differentiated();
            format!("The value and the gradient of {of}.{}{about}", if about.is_empty() { "" } else { "\n" })
        }
    };
    for line in sentence.replace("*/", "* /").lines() {
        comment += &format!(" * {line}\n");
    }
    let code = parameters(function);
    if function.symbol() == function.identifier() {
        return format!("\n/*\n{comment}{} */\n{};\n", explained(&code), signature(library, &function.symbol(), &code));
    }
    let (parameters, body) = with_records::function(library, function);
    format!(
        "\n/* What the function behind this one calls: the same, with each field a parameter. */\n{};\n\n/*\n{comment}{} \
         */\nstatic inline {} {{\n{body}}}\n",
        signature(library, &function.symbol(), &code),
        explained(&parameters),
        signature(library, &function.identifier(), &parameters),
    )
}

/// What the parameters are for, in a comment.
fn explained(parameters: &[Parameter]) -> String {
    let width = parameters.iter().map(|parameter| parameter.name.len()).max().unwrap_or(0);
    parameters.iter().map(|Parameter { name, about, .. }| format!(" *   {name:width$}  {about}\n")).collect()
}

fn signature(library: &str, name: &str, parameters: &[Parameter]) -> String {
    let declared = parameters.iter().map(|Parameter { ty, name, after, .. }| format!(",\n        {ty}{name}{after}"));
    let list: String = declared.collect();
    format!("int {library}_{name}({library}_context *context{list})")
}

/// What the header says about functions that are passed.
const ABOUT_CALLBACKS: &str = "
 *
 * Functions that are passed give their value, and where a pointer for it is not NULL, its derivatives: a gradient has a
 * number for each number among the arguments that is no whole number, in their order; a Jacobian has such a row for each
 * number of the value. They return 0, or anything else to end the call of the library with @NAME@_ERROR_CALLBACK. A function whose value is a vector
 * writes its length, too; where that is more than there is room for, it returns @NAME@_ERROR_ROOM, and is called again
 * with more room. Functions run on the stack of the caller, and must return. The context is in use meanwhile: they may call
 * the library with another one.";

const TEMPLATE: &str = r#"/*
 * The library @name@, compiled from VLAD. This file is generated.
 *
 * Memory belongs to the caller: the library reads arguments and writes results during the call only, and keeps no
 * pointer. Vectors are doubles one after another; matrices have their rows one after another; a tuple is passed part by
 * part, the parts of p being p_0, p_1 and so on. Memory for results must not overlap that of arguments. Whole numbers have
 * a magnitude of 2^53 at most.@RECORDS@@CALLBACKS@
 *
 * Functions return @NAME@_OK or the code of an error, and then @name@_message says what is wrong. What results hold after
 * an error is not specified; the context can be used again.
 *
 * There is no state but in contexts. Use one context for each thread: threads with contexts of their own may call at the
 * same time, and a context that is in use refuses a second call. A context takes memory when it needs more than ever
 * before, and keeps it: the second call with arguments of the same sizes allocates nothing. Results have the same bits
 * in every context and thread.
 */
#ifndef @NAME@_H
#define @NAME@_H

#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of what this header says. It is that of the library if @name@_abi_version() is the same. */
#define @NAME@_ABI_VERSION @ABI@

uint32_t @name@_abi_version(void);

/* What functions return. */
enum {
    @NAME@_OK = 0,
    @NAME@_ERROR_PROGRAM = 1,   /* the program fails with these arguments: an index out of range, a call of `error` */
    @NAME@_ERROR_ARGUMENT = 2,  /* no context, a null pointer to an array that is not empty, no mode, no such number */
    @NAME@_ERROR_MEMORY = 3,    /* there is no more memory, or recursion is too deep */
    @NAME@_ERROR_BUSY = 4,      /* the context is in use */
    @NAME@_ERROR_ROOM = 5,      /* a result has more numbers than there is room for; its sizes have been written */
    @NAME@_ERROR_CALLBACK = 6   /* a function that was passed has failed */
};

/* What becomes of gradients. */
enum {
    @NAME@_OVERWRITE = 0,       /* they replace what is there */
    @NAME@_ACCUMULATE = 1       /* they are added to what is there */
};

typedef struct @name@_context @name@_context;

/* What a context may use; 0 stands for the default. */
typedef struct {
    uint64_t stack_bytes;       /* for recursion: 1 GiB of addresses, of which only what is used takes memory */
    uint64_t memory_bytes;      /* for data: 7/8 of the machine's memory */
} @name@_options;

/* A new context, or NULL if there is no memory for one; options may be NULL. */
@name@_context *@name@_context_new(const @name@_options *options);

/* Gives everything back that the context has; context may be NULL. */
void @name@_context_free(@name@_context *context);

/* What was wrong with the last call, empty if nothing was. The text is the context's, until the next call. */
const char *@name@_message(@name@_context *context);

/* For tests: how many objects are alive between calls, and the bytes that the context has taken for objects. */
void @name@_memory(const @name@_context *context, uint64_t *objects, uint64_t *bytes);
"#;

const END: &str = r#"
#ifdef __cplusplus
}
#endif

#endif /* @NAME@_H */
"#;
