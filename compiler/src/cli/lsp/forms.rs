//! How the forms of the language are written.

/// The forms, as the messages about malformed ones show them.
const FORMS: [(&str, &str); 24] = [
    ("and", "(and e ...)"),
    ("arguments", "(arguments \"about\" (name type default \"about\") ...)"),
    ("begin", "(begin e ...)"),
    ("cond", "(cond (c e ...) ... (else e ...))"),
    ("define", "(define (name p ...) e ...)"),
    ("define-record", "(define-record name field ...)"),
    ("export", "(export name ((p type) ...) e ...)"),
    ("if", "(if c a b)"),
    ("import", "(import \"name\" (only a ...) (prefix p:))"),
    ("include", "(include \"name\")"),
    ("lambda", "(lambda (p ...) e ...)"),
    ("let", "(let ((p e) ...) e ...)"),
    ("let*", "(let* ((p e) ...) e ...)"),
    ("letrec", "(letrec ((name (lambda (p ...) e ...)) ...) e ...)"),
    ("list", "(list e ...)"),
    ("match", "(match e (pattern e ...) ...)"),
    ("or", "(or e ...)"),
    ("provide", "(provide name ...)"),
    ("quasiquote", "(quasiquote datum)"),
    ("quote", "(quote datum)"),
    ("unless", "(unless c e ...)"),
    ("unquote", "(unquote e)"),
    ("vector", "(vector e ...)"),
    ("when", "(when c e ...)"),
];

/// How a form is written.
pub fn usage(name: &str) -> Option<String> {
    FORMS.iter().find(|row| row.0 == name).map(|row| row.1.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expand;

    #[test]
    fn all_forms_are_there() {
        let missing: Vec<&str> = expand::keywords().filter(|name| usage(name).is_none()).collect();
        assert_eq!(missing, ["else"]);
    }
}
