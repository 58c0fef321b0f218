package import ArgumentParser
package import Attache

/// The flags for the bucket in which attachments are published.
package struct UploadOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Upload each attachment to a bucket of S3 or a server like it before the payload goes out, such as s3://media/push.",
      valueName: "s3://bucket/prefix"))
  package var upload: String?

  @Option(help: ArgumentHelp("The server of the bucket, such as https://s3.example:9000. (default: AWS)", valueName: "url"))
  package var uploadEndpoint: String?

  @Option(help: ArgumentHelp("The region of the bucket. (default: us-east-1)", valueName: "name"))
  package var uploadRegion: String?

  @Option(
    help: ArgumentHelp(
      "A file with the bucket's key, in the form of ~/.aws/credentials, that only its owner may read. A replaced file is read within a minute.",
      valueName: "file"))
  package var uploadCredentials: String?

  @Option(
    help: ArgumentHelp(
      "Renew an uploaded file that is older. The bucket may expire objects after twice this time and two days. (default: 14d)",
      valueName: "time"))
  package var uploadKeep: DurationArgument?

  @Flag(help: "Also upload files that their origin marks as private, and files of URLs that look signed.")
  package var uploadPrivate = false

  package init() {}

  /// Returns the bucket; nil without `--upload`.
  ///
  /// - Throws: `ValidationError` when the flags are wrong.
  package func bucket(_ fetching: FetchOptions?) throws -> Bucket? {
    guard let upload else {
      try Validation.checkCompanions(
        of: "--upload", ("--upload-endpoint", uploadEndpoint != nil), ("--upload-region", uploadRegion != nil),
        ("--upload-credentials", uploadCredentials != nil), ("--upload-keep", uploadKeep != nil), ("--upload-private", uploadPrivate))
      return nil
    }
    do throws(BucketMistake) {
      return try Bucket(
        upload, endpoint: uploadEndpoint, region: uploadRegion, credentials: uploadCredentials, keep: uploadKeep?.duration,
        allowsHTTP: fetching?.allowHttp ?? false, rootCertificates: fetching?.cacert)
    } catch {
      throw ValidationError("\(error)")
    }
  }
}
