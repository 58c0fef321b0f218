internal import Attache
internal import Synchronization

extension Simulation {
  /// Delivers bytes to the end of a stream. The thread that waits for them can run from now on, but
  /// the caller keeps the baton: it may hold a lock.
  ///
  /// - Returns: false when that end is closed.
  func deliver(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    state.withLock { state in
      guard state.streams[descriptor] != nil else { return false }
      unsafe state.streams[descriptor]?.bytes.append(contentsOf: bytes)
      state.wakeReader(of: descriptor)
      return true
    }
  }

  /// Takes bytes that were delivered to the end of a stream; nil when there are none and the other
  /// end is closed.
  func take(atMost count: Int, from descriptor: Int32) -> [UInt8]? {
    state.withLock { state in
      guard let stream = state.streams[descriptor], !stream.bytes.isEmpty || !stream.isOver else { return nil }
      state.streams[descriptor]?.bytes.removeFirst(min(count, stream.bytes.count))
      return Array(stream.bytes.prefix(count))
    }
  }

  /// Closes the end of a stream.
  func close(_ descriptor: Int32, of peer: Int32) {
    state.withLock { state in
      state.streams[descriptor] = nil
      state.streams[peer]?.isOver = true
      state.wakeReader(of: peer)
    }
  }

  /// - Parameter signal: wakes the thread that reads from the end; nil for no thread.
  /// - Returns: false when the descriptor is not that of a stream.
  @discardableResult
  func watch(_ descriptor: Int32, _ signal: SimulatedWakeSignal?) -> Bool {
    state.withLock { state in
      guard state.streams[descriptor] != nil else { return false }
      state.streams[descriptor]?.reader = signal
      return true
    }
  }

  /// Returns the streams of a reader that have something to read.
  func readable(by signal: SimulatedWakeSignal) -> [Int32] {
    state.withLock { state in
      state.streams.filter { $0.value.reader === signal && (!$0.value.bytes.isEmpty || $0.value.isOver) }.map(\.key).sorted()
    }
  }
}
