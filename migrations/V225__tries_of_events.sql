-- phase: expand
-- V225: how often an event is sent that its receiver refuses is a setting. Applied once.

ALTER TABLE omd_event.setting ADD COLUMN tries integer NOT NULL DEFAULT 3;
ALTER TABLE omd_event.setting ADD CONSTRAINT ck_setting_tries CHECK (
    tries BETWEEN 1 AND 100
) NOT VALID;
COMMENT ON COLUMN omd_event.setting.tries IS
'How often an event is sent that its receiver refuses, until the refusal is final.';
