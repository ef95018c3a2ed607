import Glibc

/// This machine's name, the default of a worker's: a pod's is stable in a StatefulSet.
enum HostName {
    static var current: String {
        var system = utsname()
        guard uname(&system) == 0 else { return "hush" }
        return withUnsafeBytes(of: system.nodename) { name in
            String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
