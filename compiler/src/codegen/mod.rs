//! SSA to object code and executables.
