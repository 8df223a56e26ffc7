//! Helpers shared by the tests in this folder.
