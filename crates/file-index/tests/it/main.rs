//! Tests of the index through its public interface.
