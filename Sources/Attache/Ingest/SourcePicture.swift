/// A complete picture that must be converted. Its bytes are in an unfinished file of the store.
struct SourcePicture {
  var file: PartialFile
  var format: PictureFormat
  /// The number of pixels that it claims to have; nil if it does not say.
  var claimedPixels: Int?
  /// The type of a picture that may be attached as it is, if the conversion fails.
  var acceptableType: MediaType?
  /// Why a JPEG cannot be attached as it is, according to its structure; nil for a picture without a
  /// defect.
  var damage: FetchFailure?
}

extension SourcePicture {
  /// Stores the picture as it is, if it may be attached so.
  ///
  /// - Parameter failure: why it could not be converted.
  /// - Returns: the stored file, pinned once, or `failure`.
  func unconverted(after failure: FetchFailure) -> Result<StoredFile, FetchFailure> {
    guard let type = acceptableType else { return .failure(damage.map(failure.unrepaired) ?? failure) }
    return Result { () throws(StoreError) in try file.finish(type: type) }.mapError { FetchFailure($0) }
  }
}

extension FetchFailure {
  /// Returns the failure of a damaged picture. That a conversion cannot read it either is its own
  /// fault.
  fileprivate func unrepaired(_ damage: FetchFailure) -> FetchFailure {
    guard reason == .convertFailed, !isOfMachine else { return self }
    return FetchFailure(reason: damage.reason, message: "\(damage.message); --convert cannot read it either")
  }
}
