extension FetchState {
  /// What the fetch waits for.
  enum Phase: Equatable {
    /// The start: at first, and before a retry.
    case pausing
    /// The index's result for the hop.
    case lookingUp
    case resolving
    /// The check whether the file of a fresh entry still exists.
    case confirming
    /// A place at the origin.
    case waiting
    case transferring
    /// The check whether the store still has the file that a 304 says is unchanged.
    case revalidating
    /// The stored file, after all its bytes have arrived.
    case storing
    /// The file that a converter makes of the picture whose bytes have arrived.
    case converting
    case over
  }

  /// An input of the state machine.
  enum Event {
    case begun
    case lookedUp(HTTPCache.LookupResult)
    case resolved(Result<[IPAddress], DNSFailure>)
    case confirmed(Bool)
    case placeGranted
    /// The head of a response.
    ///
    /// - Parameter at: when it arrived, by the wall clock; nil if there is no index.
    case head(ResponseHead, at: Duration?)
    /// This many bytes of the body, during a transfer.
    case body(Int)
    /// The type of the bytes. The detector may report it between two attempts, too.
    case recognised(MediaType)
    /// The bytes are refused, during a transfer.
    case refused(FetchFailure)
    case ended(TransferEnd)
    /// The file is in the store.
    case stored(StoredFile)
    /// The file is complete, and a picture that must be converted.
    case completed
    case failed(FetchFailure)
  }

  /// What the caller must do.
  enum Action: Equatable {
    /// Wait for the next event.
    case none
    case lookUp
    case resolve(host: String)
    case confirm(StoredFile)
    /// Wait for a place at the origin.
    case enter
    /// Send the request.
    case transfer
    /// Continue the transfer, or stop it.
    case proceed, stop
    /// Finish the file, all of whose bytes have arrived.
    case finish
    /// Convert the picture that is complete.
    case convert
    /// Retry after a pause if the budget allows it, otherwise fail.
    case pause(after: FetchFailure, asked: Duration?)
    /// Hand out the file that has been fetched.
    case handOut(StoredFile)
    /// Hand out a file that was in the store already.
    case serve(CacheEntry, as: MediaRecord.Cache)
    case fail(FetchFailure)
  }
}
