internal import Attache

extension DNSFailure {
  /// The end of a sentence, for messages.
  var words: String {
    switch self {
    case .notFound: "it does not exist"
    case .failed: "the name servers failed"
    case .refused(let number): "\(SystemError(call: "socket", number: number))"
    case .timeout: "the name servers did not answer"
    }
  }
}
