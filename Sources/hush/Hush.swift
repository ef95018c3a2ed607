@main
struct Hush {
    static func main() {}
}
