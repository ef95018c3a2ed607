private import Glibc

/// What we know of the terminal that a person may sit at.
public enum Terminal {
    /// Whether standard output is a terminal, where a live view may redraw itself.
    public static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is one, where a status line may be written over.
    public static var isError: Bool { isatty(STDERR_FILENO) == 1 }

    /// False where `NO_COLOR` is set and not empty (https://no-color.org) or the terminal is dumb.
    public static var wantsColor: Bool {
        let environment = { (name: String) in getenv(name).map { String(cString: $0) } ?? "" }
        return environment("NO_COLOR").isEmpty && environment("TERM") != "dumb"
    }
}
