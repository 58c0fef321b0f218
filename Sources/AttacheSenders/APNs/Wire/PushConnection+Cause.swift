extension PushConnection.Cause {
  var text: String {
    switch self {
    case .broken(let why), .refused(let why): why
    case .ended: "the server closed it"
    }
  }

  /// Whether another attempt would end the same way.
  var isFinal: Bool {
    switch self {
    case .refused: true
    case .broken, .ended: false
    }
  }
}
