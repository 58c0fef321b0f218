@_exported import Groundwork
@_exported import UniformTypeIdentifiers

public let kUTTypeItem: CFString = "public.data"
public let kUTTypeData: CFString = "public.data"
public let kUTTypeImage: CFString = "public.image"
public let kUTTypeJPEG: CFString = "public.jpeg"
public let kUTTypePNG: CFString = "public.png"
public let kUTTypeGIF: CFString = "com.compuserve.gif"
public let kUTTypeTIFF: CFString = "public.tiff"
public let kUTTypeBMP: CFString = "com.microsoft.bmp"
public let kUTTypeICO: CFString = "com.microsoft.ico"
public let kUTTypeAudio: CFString = "public.audio"
public let kUTTypeMP3: CFString = "public.mp3"
public let kUTTypeMPEG4Audio: CFString = "public.mpeg-4-audio"
public let kUTTypeWaveformAudio: CFString = "com.microsoft.waveform-audio"
public let kUTTypeAudioInterchangeFileFormat: CFString = "public.aiff-audio"
public let kUTTypeMovie: CFString = "public.movie"
public let kUTTypeVideo: CFString = "public.movie"
public let kUTTypeMPEG: CFString = "public.mpeg"
public let kUTTypeMPEG2Video: CFString = "public.mpeg-2-video"
public let kUTTypeMPEG4: CFString = "public.mpeg-4"
public let kUTTypeQuickTimeMovie: CFString = "com.apple.quicktime-movie"
public let kUTTypeAVIMovie: CFString = "public.avi"
public let kUTTypePDF: CFString = "com.adobe.pdf"
public let kUTTypePlainText: CFString = "public.plain-text"
public let kUTTypeText: CFString = "public.text"
public let kUTTypeHTML: CFString = "public.html"

public let kUTTagClassFilenameExtension: CFString = "public.filename-extension"
public let kUTTagClassMIMEType: CFString = "public.mime-type"

public func UTTypeCreatePreferredIdentifierForTag(_ tagClass: CFString, _ tag: CFString, _ conformingTo: CFString?) -> Unmanaged<CFString>?
{
  let type = tagClass.isEqual(to: kUTTagClassMIMEType as String) ? FileType(mime: tag as String) : FileType(fileExtension: tag as String)
  return type.map { Unmanaged.passRetained($0.identifier as NSString) }
}

public func UTTypeCopyPreferredTagWithClass(_ identifier: CFString, _ tagClass: CFString) -> Unmanaged<CFString>? {
  guard let type = FileType(identifier: identifier as String) else { return nil }
  let tag = tagClass.isEqual(to: kUTTagClassMIMEType as String) ? type.mimes.first : type.extensions.first
  return tag.map { Unmanaged.passRetained($0 as NSString) }
}

public func UTTypeConformsTo(_ identifier: CFString, _ supertype: CFString) -> Bool {
  guard let type = UTType(identifier as String), let other = UTType(supertype as String) else { return identifier == supertype }
  return type.conforms(to: other)
}
