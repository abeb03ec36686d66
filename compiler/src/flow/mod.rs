//! Flow analysis: abstract interpretation over shapes.
