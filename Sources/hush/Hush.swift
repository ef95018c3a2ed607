import Foundation

@main
struct Hush {
    static func main() {
        // A reader of ours that goes away is an error of one write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        let code = Command.run(CommandLine.arguments)
        fflush(nil)
        exit(code.rawValue)
    }
}
