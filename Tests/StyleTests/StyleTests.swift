// The rules as tests follow in this target.
