//! Derivative transformations: core λ to core λ.
