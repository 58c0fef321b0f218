/// A complete picture that must be converted. Its bytes are in an unfinished file of the store.
struct SourcePicture {
  var file: PartialFile
  var format: PictureFormat
  /// The type of a picture that may be attached as it is, if the conversion fails.
  var acceptableType: MediaType?
}
