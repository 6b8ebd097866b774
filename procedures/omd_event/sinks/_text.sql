-- This is what the incoming webhooks of chats read.

CREATE OR REPLACE FUNCTION omd_event._text(
    p_event omd_event.event
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        jsonb_build_object(
            'text',
            concat_ws(
                chr(10),
                omd_event._event_text(
                    (p_event).event_type,
                    (p_event).subject_id,
                    (p_event).code,
                    (p_event).detail
                ),
                CASE
                    WHEN (p_event).subject_type IN ('MODULE', 'BATCH')
                        THEN
                            rtrim(s.web_url, '/')
                            || '/run/'
                            || lower((p_event).subject_type)
                            || '/'
                            || (p_event).subject_id
                END
            )
        )
    FROM omd_event.setting AS s;
END;

COMMENT ON FUNCTION omd_event._text IS
'Returns an event as an object with one text: a sentence and, of a run, the link to its page. '
'Locks: none.';
