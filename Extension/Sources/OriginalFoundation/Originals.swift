import Foundation
import FoundationNetworking

// Foundation's own members, for the shadows in Groundwork: within a module that declares a shadow,
// its name means the shadow.

package func originalDownloadTask(
  _ session: URLSession, _ request: URLRequest, _ handler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
) -> URLSessionDownloadTask {
  session.downloadTask(with: request, completionHandler: handler)
}

package func originalFolders(_ folder: FileManager.SearchPathDirectory, _ domains: FileManager.SearchPathDomainMask) -> [URL] {
  FileManager.default.urls(for: folder, in: domains)
}

package func originalSuggestedFilename(_ response: URLResponse) -> String? {
  response.suggestedFilename
}
