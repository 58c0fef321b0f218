/// A file that a converter makes, on its way into the store. The converter has read a stranger's
/// picture, so its result is checked like a download. On the loop only.
final class ConvertedFile {
  private let ingest: MediaIngest
  private let job: ConverterJob
  private var missing: Int

  /// - Parameters:
  ///   - type: what the converter says that it sends.
  ///   - bytes: how many bytes it says that it sends.
  init(store: AttachmentStore, limits: MediaLimits, of job: ConverterJob, as type: MediaType, bytes: Int) {
    ingest = MediaIngest(store: store, limits: limits, expecting: type)
    (self.job, missing) = (job, bytes)
  }

  /// Takes the next bytes.
  ///
  /// - Returns: the stored file, pinned once; nil while bytes are missing.
  /// - Throws: why the file is refused.
  func take(_ bytes: ArraySlice<UInt8>) throws(FetchFailure) -> StoredFile? {
    guard bytes.count <= missing else { throw Self.invalid("it is longer than announced") }
    missing -= bytes.count
    do throws(FetchFailure) {
      try pass(bytes)
      guard missing == 0, case .stored(var file) = try ingest.finish() else { return nil }
      let size = ingest.pictureSize ?? (0, 0)
      file.conversion = PictureConversion(
        from: job.format, size: file.size, width: size.width, height: size.height, isRepair: job.isRepair)
      return file
    } catch {
      switch error.reason {
      case .storeFull, .storeReadOnly, .storeFailed: throw error
      default: throw Self.invalid(error.message)
      }
    }
  }

  private func pass(_ bytes: ArraySlice<UInt8>) throws(FetchFailure) {
    let result: Result<Void, FetchFailure> = unsafe bytes.withUnsafeBytes { part in
      do throws(FetchFailure) {
        return .success(try unsafe ingest.take(part, expecting: missing + part.count))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  private static func invalid(_ why: String) -> FetchFailure {
    FetchFailure(reason: .convertFailed, message: "the converter's result is refused: \(why)")
  }
}
