/// What a task may do: read and write its state, send records, ask to be woken. Of the slot's thread only.
public final class TaskContext {
    public let partition: Int32

    init(partition: Int32) {
        self.partition = partition
    }
}

/// The headers of a record that was read.
public struct InputHeaders {}
