import { useEffect, useRef } from 'preact/hooks';

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly error: string | null;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly focused: boolean;
  readonly maxLength?: number;
}

/** Text field with a hint or an error. */
export function Field({ id, label, hint, error, value, onInput, focused, maxLength = 64 }: FieldProps) {
  const input = useRef<HTMLInputElement>(null);
  // The attribute works only once per page.
  useEffect(() => {
    if (focused) input.current?.focus();
  }, [focused]);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        ref={input}
        id={id}
        value={value}
        maxLength={maxLength}
        autocomplete={id === 'name' ? 'name' : 'off'}
        aria-describedby={`${id}-hint`}
        aria-invalid={error !== null}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <p id={`${id}-hint`} class={error === null ? 'hint' : 'hint error'} role={error === null ? undefined : 'alert'}>
        {error ?? hint}
      </p>
    </div>
  );
}
