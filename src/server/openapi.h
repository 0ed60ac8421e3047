/* openapi.h - what the server offers, for programs: /openapi.json. */
#ifndef ACQ_SERVER_OPENAPI_H
#define ACQ_SERVER_OPENAPI_H

extern const char acq_openapi_document[];

#endif
